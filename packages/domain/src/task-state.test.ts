import { describe, expect, it } from 'vitest'
import { canMove, isTerminal, taskStates, terminalStates } from './task-state.ts'

// Spec 3.2, written out, and the end of a retrying task whose workspace is deleted.
const arrows = [
  'pending > processing',
  'pending > cancelled',
  'processing > success',
  'processing > retrying',
  'processing > dead',
  'retrying > processing',
  'retrying > cancelled',
]

describe('task states', () => {
  it('allow exactly the arrows that are documented', () => {
    const moves = taskStates.flatMap(from => taskStates.filter(to => canMove(from, to)).map(to => `${from} > ${to}`))
    expect(moves.sort()).toEqual(arrows.sort())
  })

  it('are terminal when no arrow leads out of them', () => {
    expect(taskStates.filter(isTerminal)).toEqual([...terminalStates])
  })
})
