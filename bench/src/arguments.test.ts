import { describe, expect, it } from 'vitest'
import { chooseByName, readArguments } from './arguments.ts'

describe('the arguments', () => {
  it('select benchmarks and set how they run', () => {
    expect(
      readArguments(['dispatch', '--json', '--rounds', '5', 'lag', '--seconds', '10', '--tasks', '20000000']),
    ).toEqual({
      names: ['dispatch', 'lag'],
      json: true,
      writeDocs: false,
      profile: false,
      rounds: 5,
      minutes: null,
      seconds: 10,
      tasks: 20_000_000,
    })
  })

  it('are rejected when they are unknown or lack their number', () => {
    expect(() => readArguments(['--jsno'])).toThrow("Unknown option '--jsno'")
    expect(() => readArguments(['--minutes'])).toThrow('--minutes')
    expect(() => readArguments(['--seconds', '0'])).toThrow('--seconds needs a number')
    expect(() => readArguments(['--rounds', 'none'])).toThrow('--rounds needs a number')
  })

  it('select every benchmark whose name starts with one of them, and all without a name', () => {
    const all = [{ name: 'dispatch-50' }, { name: 'dispatch-200' }, { name: 'lag' }]
    expect(chooseByName(all, ['dispatch'])).toEqual(all.slice(0, 2))
    expect(chooseByName(all, [])).toEqual(all)
    expect(() => chooseByName(all, ['lag', 'nothing'])).toThrow('There is no benchmark nothing')
  })
})
