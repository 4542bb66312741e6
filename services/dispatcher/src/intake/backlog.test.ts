import { expect, it } from 'vitest'
import { createBacklog, positionBefore } from './backlog.ts'

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

it('begins anew at the first that was refused on the way', () => {
  const backlog = createBacklog()
  backlog.note('a', 0, position(2))
  expect(backlog.next(always, 1, 0)).toEqual([{ workspace: 'a', after: position(2) }])
  backlog.note('a', 0, position(4))
  backlog.note('a', 0, position(3))
  backlog.note('a', 0, position(5))
  backlog.read({ workspace: 'a', taken: 5, refused: 3, last: position(7) }, 0)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([{ workspace: 'a', after: position(3) }])
  backlog.note('a', 0)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)[0]?.after.dueAt).toEqual(new Date(0))
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([])
})

it('goes on until the last that was noted is due', () => {
  const backlog = createBacklog()
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

it('knows a position before a task that is behind those of the moments before', () => {
  const before = positionBefore({ id: '019d0000-1111-7222-8333-444444444444', dueAt: 5 })
  expect(before).toEqual({ dueAt: new Date(5), id: '019d0000-1111-7222-8333-000000000000' })
})
