import { describe, expect, it } from 'vitest'
import { createOutput } from './output.ts'

const rows = [
  { value: { id: 1 }, cells: ['task_1', { text: 'dead', colour: 'red' as const }, 'a\u001b[2J\tname'] },
  { value: { id: 2 }, cells: ['task_22', 'pending', 'x'.repeat(100)] },
]

async function printed(stream: { isTTY?: boolean; hasColors?: () => boolean; columns?: number }, isJson = false) {
  let text = ''
  const write = (piece: string) => {
    text += piece
  }
  await createOutput({ write, ...stream }, { isJson, env: {} }).rows(['ID', 'STATE', 'NAME'], rows)
  return text
}

describe('rows are', () => {
  it('a table on a terminal, cut to its width, without control characters', async () => {
    expect(await printed({ isTTY: true, columns: 42 })).toBe(
      `ID       STATE    NAME\ntask_1   dead     a [2J name\ntask_22  pending  ${'x'.repeat(23)}…\n`,
    )
  })

  it('coloured where the terminal has colours', async () => {
    const text = await printed({ isTTY: true, hasColors: () => true, columns: 42 })
    expect(text).toContain('\u001b[31mdead')
    expect(text).toContain('\u001b[1mID')
  })

  it('separated by tabs elsewhere, without a heading and never coloured', async () => {
    expect(await printed({ hasColors: () => true })).toBe(
      `task_1\tdead\ta [2J name\ntask_22\tpending\t${'x'.repeat(100)}\n`,
    )
  })

  it('one JSON object per line', async () => {
    expect(await printed({ isTTY: true, hasColors: () => true }, true)).toBe('{"id":1}\n{"id":2}\n')
  })
})
