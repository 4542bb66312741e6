import { expect, it } from 'vitest'
import { createBacklog } from './backlog.ts'

const always = () => true
const position = (n: number) => ({ dueAt: new Date(n), id: `${n}` })
const names = (found: Array<{ workspace: string }>) => found.map(({ workspace }) => workspace)

it('names the workspaces in turns, and those only that are hungry', () => {
  const backlog = createBacklog()
  for (const workspace of ['a', 'b', 'c']) backlog.note(workspace, 0)
  expect(names(backlog.next(always, 2, 0))).toEqual(['a', 'b'])
  expect(names(backlog.next(always, 2, 0))).toEqual(['c', 'a'])
  expect(names(backlog.next(workspace => workspace === 'a', 2, 0))).toEqual(['a'])
})

it('goes on where the last page ended, and ends with the last page', () => {
  const backlog = createBacklog()
  backlog.note('a', 0)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: position(7) }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([{ workspace: 'a', after: position(7) }])
  backlog.read({ workspace: 'a', taken: 1, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([])
})

it('begins anew when something was refused on the way, or is not due yet', () => {
  const backlog = createBacklog()
  backlog.note('a', 0)
  backlog.read({ workspace: 'a', taken: 5, refused: 2, last: position(7) }, 0)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)[0]?.after.dueAt).toEqual(new Date(0))
  backlog.note('a', 100)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 99)
  expect(backlog.next(always, 1, 99)).toHaveLength(1)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 100)
  expect(backlog.next(always, 1, 100)).toEqual([])
})

it('pauses after a page of which little could be taken', () => {
  const backlog = createBacklog()
  backlog.note('a', 0)
  backlog.read({ workspace: 'a', taken: 4, refused: 5, last: position(7) }, 1_000)
  expect(backlog.next(always, 1, 1_999)).toEqual([])
  expect(backlog.next(always, 1, 2_000)).toHaveLength(1)
})
