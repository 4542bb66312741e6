import { expect, it } from 'vitest'
import { showControls } from './show-controls.ts'

it.each([
  ['plain text\n\twith lines\r\nof all kinds', 'plain text\n\twith lines\nof all kinds'],
  ['\u001b[31mred\u001b[0m\u0007', '⟨U+001B⟩[31mred⟨U+001B⟩[0m⟨U+0007⟩'],
  ['a\rb\u0000', 'a⟨U+000D⟩b⟨U+0000⟩'],
  ['user\u202egpj.exe', 'user⟨U+202E⟩gpj.exe'],
  ['zero\u200bwidth\ufeff', 'zero⟨U+200B⟩width⟨U+FEFF⟩'],
  ['שלום, 世界 👋', 'שלום, 世界 👋'],
])('%j is shown as %j', (text, shown) => {
  expect(showControls(text)).toBe(shown)
})
