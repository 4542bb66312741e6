import { expect, it } from 'vitest'
import { findings, moves, setMoves, stored, taskOf } from './good-history.ts'
import type { History } from './history.ts'

it('finds a key that created two tasks, or was answered with another task', () => {
  const key =
    (answered: string[], path = '/a') =>
    (history: History) =>
      history.keys.push({ key: 'k', path, answered })
  expect(findings(key(['a']))).toEqual([])
  expect(findings(key([], '/none'))).toEqual([])
  expect(findings(key(['a', 'b']))).toEqual(['I10 null', 'I10 b'])
  const twice = (history: History) => {
    key(['a'])(history)
    taskOf(history, 'b').name = '/a'
  }
  expect(findings(twice)).toEqual(['I10 null'])
})

it('finds executions above the limit, and a count that differs from the claims', () => {
  const limited = (limit: number, counted: number) => (history: History) =>
    history.organizations.push({ id: 'o', limit, counted })
  expect(findings(limited(2, 2))).toEqual([])
  expect(findings(limited(5, 2))).toEqual([])
  expect(findings(limited(5, 3))).toEqual(['I12 null'])
  expect(findings(limited(1, 2))).toEqual(['I12 null', 'I12 null'])
})

it('does not count an undone claim, and finds a refusal while executions were left', () => {
  const refuse = (limit: number, counted: number) => (history: History) => {
    history.organizations.push({ id: 'o', limit, counted })
    history.tasks.push({ ...stored('c', 'cancelled', 0), stateReason: 'monthly_execution_limit' })
    history.moves.push(...moves('c', ['pending', 'processing', 'undone pending', 'cancelled']))
  }
  expect(findings(refuse(2, 2))).toEqual([])
  expect(findings(refuse(3, 2))).toEqual(['I12 null'])
  const again = (history: History) => {
    setMoves(history, 'a', ['pending', 'processing', 'undone pending', 'processing', 'success'])
    history.organizations.push({ id: 'o', limit: 2, counted: 3 })
  }
  expect(findings(again)).toEqual(['I12 null'])
})
