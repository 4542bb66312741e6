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

it('reports each workspace that is new in it, again after it was read to its end', () => {
  let reports = 0
  const backlog = createBacklog(() => reports++)
  for (const workspace of ['a', 'b']) backlog.note(workspace, 0)
  backlog.noteAll('b')
  expect([reports, backlog.size]).toEqual([2, 2])
  backlog.read({ workspace: 'a', taken: 1, refused: 0, last: null }, 0)
  expect([reports, backlog.size]).toEqual([2, 1])
  backlog.note('a', 0)
  expect([reports, backlog.size]).toEqual([3, 2])
})

it('goes on where the last page ended, and ends with the last page', () => {
  const backlog = createBacklog()
  backlog.note('a', 0)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: position(7) }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([{ workspace: 'a', after: position(7), isWhole: false }])
  backlog.read({ workspace: 'a', taken: 1, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([])
})

it('begins anew at the first that was refused on the way', () => {
  const backlog = createBacklog()
  backlog.note('a', 0, position(2))
  expect(backlog.next(always, 1, 0)).toEqual([{ workspace: 'a', after: position(2), isWhole: false }])
  backlog.note('a', 0, position(4))
  backlog.note('a', 0, position(3))
  backlog.note('a', 0, position(5))
  backlog.read({ workspace: 'a', taken: 5, refused: 3, last: position(7) }, 0)
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([{ workspace: 'a', after: position(3), isWhole: false }])
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

it('reads a workspace whole when it is told so, until the last page', () => {
  const backlog = createBacklog()
  const isWhole = () => backlog.next(always, 1, 0).map(reading => reading.isWhole)
  backlog.noteAll('a')
  backlog.note('a', 0)
  expect(isWhole()).toEqual([true])
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(isWhole()).toEqual([true])
  backlog.read({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  backlog.note('a', 0)
  expect(isWhole()).toEqual([false])
})

it('lets none of more than two hundred workspaces wait for ever', () => {
  const backlog = createBacklog()
  for (let i = 0; i < 450; i++) backlog.note(`ws_${i}`, 0)
  const seen = new Set([1, 2, 3].flatMap(() => names(backlog.next(always, 200, 0))))
  expect(seen.size).toBe(450)
})

it('knows a position before a task that is behind those of the moments before', () => {
  const before = positionBefore({ id: '019d0000-1111-7222-8333-444444444444', dueAt: 5 })
  expect(before).toEqual({ dueAt: new Date(5), id: '019d0000-1111-7222-8333-000000000000' })
})
