import { expect, it } from 'vitest'
import { due, findings, moves, ran, setMoves, taskOf } from './good-history.ts'
import type { History } from './history.ts'

it('finds a move without an arrow, a move out of a final state, and a move that was not seen', () => {
  expect(findings(history => history.moves.splice(1, 1))).toEqual(['I8 a'])
  expect(findings(history => (history.moves[1]!.to = 'retrying'))).toEqual(['I8 a', 'I8 a'])
  expect(findings(history => history.moves.splice(3, 0, ...moves('a', ['processing'])))).toContain('I8 a')
  expect(findings(history => (taskOf(history, 'a').state = 'dead'))).toEqual(['I9 a', 'I8 a', 'I8 a'])
})

it('allows an undone claim, to pending before the first attempt and else to retrying, without a trace', () => {
  const undo = (states: string[]) => (history: History) => setMoves(history, 'b', states)
  const first = ['pending', 'processing', 'undone pending', 'processing', 'retrying', 'processing', 'success']
  const later = ['pending', 'processing', 'retrying', 'processing', 'undone retrying', 'processing', 'success']
  expect(findings(undo(first))).toEqual([])
  expect(findings(undo(later))).toEqual([])
  expect(findings(undo(first.with(2, 'undone retrying')))).toEqual(['I8 b'])
  expect(findings(undo(later.with(4, 'undone pending')))).toEqual(['I8 b'])
})

it('finds an undone claim that was counted, or whose run is stored', () => {
  const states = ['pending', 'processing', 'undone pending', 'processing', 'success']
  expect(findings(history => setMoves(history, 'a', states.with(2, 'pending')))).toContain('I8 a')
  const keep = (history: History) => {
    setMoves(history, 'a', states)
    history.moves.filter(({ taskId }) => taskId === 'a')[1]!.runId = 'a0'
    history.runs.push({ ...ran('a', 0, due), id: 'a0' })
  }
  expect(findings(keep)).toEqual(['I9 a', 'I8 a'])
})

it('finds an attempt that ended without its run, and an attempt that was counted twice', () => {
  const end = (history: History) => {
    for (const move of history.moves) if (move.taskId === 'b' && move.attempts === 1) move.runId = 'b0'
  }
  expect(findings(end)).toEqual(['I8 b'])
  expect(findings(history => (history.moves[1]!.attempts = 2))).toEqual(['I8 a', 'I8 a'])
})

it('allows a lost attempt to be recorded late, in quarantine and by its own run', () => {
  const late = (doctor: (last: History['moves'][number]) => void) => (history: History) => {
    setMoves(history, 'a', ['pending', 'processing', 'retrying', 'success'])
    const last = history.moves.at(-1)!
    last.wasQuarantined = true
    doctor(last)
  }
  expect(findings(late(() => {}))).toEqual([])
  expect(findings(late(last => (last.wasQuarantined = false)))).toEqual(['I8 a'])
  expect(findings(late(last => (last.runId = 'other')))).toEqual(['I8 a'])
  expect(findings(late(last => (last.attempts = 2)))).toEqual(['I8 a'])
})

it('finds a task that was created as cancelled and is not a missed occurrence', () => {
  const make = (occurrenceAt: number | null) => (history: History) => {
    setMoves(history, 'a', ['cancelled'])
    const cancelled = { state: 'cancelled', stateReason: 'missed', attempts: 0, occurrenceAt }
    Object.assign(taskOf(history, 'a'), cancelled)
    history.runs.shift()
    history.hits.shift()
  }
  expect(findings(make(due))).toEqual([])
  expect(findings(make(null))).toEqual(['I8 a'])
})
