import { expect, it } from 'vitest'
import { parsePss, readMemory } from './memory.ts'

const rollup = `55a4f6bfc000-7ffdeba23000 ---p 00000000 00:00 0                          [rollup]
Rss:               71704 kB
Pss:               20480 kB
Pss_Dirty:           112 kB
Pss_Anon:            112 kB
SwapPss:               8 kB
`

it('is the proportional set size in megabytes, without its parts', () => {
  expect(parsePss(rollup)).toBe(20)
})

it('is 0 for a process that has ended', () => {
  expect(parsePss('')).toBe(0)
  expect(readMemory({ gone: [2 ** 30] })).toEqual({ gone: 0 })
})

it.runIf(process.platform === 'linux')('of this process is that of a Node process', () => {
  const { me = 0 } = readMemory({ me: [process.pid] })
  expect(me).toBeGreaterThan(10)
  expect(me).toBeLessThan(4_000)
})
