import { expect, it } from 'vitest'
import { onShowPalette, showPalette } from './show-palette.ts'

it('opens the palette also after a click before its script was loaded, and once', () => {
  const shown: unknown[] = []
  showPalette('Workspaces')
  onShowPalette(group => shown.push(group))()
  const end = onShowPalette(group => shown.push(group))
  expect(shown).toEqual(['Workspaces'])
  showPalette()
  end()
  expect(shown).toEqual(['Workspaces', undefined])
})
