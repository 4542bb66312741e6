import { expect, it } from 'vitest'
import { createBacklog, positionBefore } from './backlog.ts'

const always = () => true
const position = (n: number) => ({ dueAt: new Date(n), id: `${n}` })
const names = (found: Array<{ workspace: string }>) => found.map(({ workspace }) => workspace)

it('returns the workspaces round-robin, and only those that need tasks', () => {
  const backlog = createBacklog()
  for (const workspace of ['a', 'b', 'c']) backlog.add(workspace, 0)
  expect(names(backlog.next(always, 2, 0))).toEqual(['a', 'b'])
  expect(names(backlog.next(always, 2, 0))).toEqual(['c', 'a'])
  expect(names(backlog.next(workspace => workspace === 'a', 2, 0))).toEqual(['a'])
})

it('reports each workspace that enters it, even for a second time', () => {
  let reports = 0
  const backlog = createBacklog(() => reports++)
  for (const workspace of ['a', 'b']) backlog.add(workspace, 0)
  backlog.addWhole('b')
  expect([reports, backlog.size]).toEqual([2, 2])
  backlog.recordPage({ workspace: 'a', taken: 1, refused: 0, last: null }, 0)
  expect([reports, backlog.size]).toEqual([2, 1])
  backlog.add('a', 0)
  expect([reports, backlog.size]).toEqual([3, 2])
})

it('continues after the previous page, and ends with the last one', () => {
  const backlog = createBacklog()
  backlog.add('a', 0)
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: position(7) }, 0)
  expect(backlog.next(always, 1, 0)).toMatchObject([{ workspace: 'a', after: position(7), isWhole: false }])
  backlog.recordPage({ workspace: 'a', taken: 1, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([])
})

it('restarts at the first task that was refused', () => {
  const backlog = createBacklog()
  backlog.add('a', 0, position(2))
  expect(backlog.next(always, 1, 0)).toMatchObject([{ workspace: 'a', after: position(2), isWhole: false }])
  backlog.add('a', 0, position(4))
  backlog.add('a', 0, position(3))
  backlog.add('a', 0, position(5))
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 3, last: position(7) }, 0)
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toMatchObject([{ workspace: 'a', after: position(3), isWhole: false }])
  backlog.add('a', 0)
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)[0]?.after.dueAt).toEqual(new Date(0))
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(backlog.next(always, 1, 0)).toEqual([])
})

it('keeps a workspace until its last task is due', () => {
  const backlog = createBacklog()
  backlog.add('a', 100)
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: null }, 99)
  expect(backlog.next(always, 1, 99)).toHaveLength(1)
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: null }, 100)
  expect(backlog.next(always, 1, 100)).toEqual([])
})

it('pauses after a page of which most tasks were refused', () => {
  const backlog = createBacklog()
  backlog.add('a', 0)
  backlog.recordPage({ workspace: 'a', taken: 4, refused: 5, last: position(7) }, 1_000)
  expect(backlog.next(always, 1, 1_999)).toEqual([])
  expect(backlog.next(always, 1, 2_000)).toHaveLength(1)
})

it('reads a whole workspace on request, until the last page', () => {
  const backlog = createBacklog()
  const isWhole = () => backlog.next(always, 1, 0).map(reading => reading.isWhole)
  backlog.addWhole('a')
  backlog.add('a', 0)
  expect(isWhole()).toEqual([true])
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  expect(isWhole()).toEqual([true])
  backlog.recordPage({ workspace: 'a', taken: 5, refused: 0, last: null }, 0)
  backlog.add('a', 0)
  expect(isWhole()).toEqual([false])
})

it('reads every one of more than 200 workspaces', () => {
  const backlog = createBacklog()
  for (let i = 0; i < 450; i++) backlog.add(`ws_${i}`, 0)
  const seen = new Set([1, 2, 3].flatMap(() => names(backlog.next(always, 200, 0))))
  expect(seen.size).toBe(450)
})

it('returns a position before a task and after earlier ones', () => {
  const before = positionBefore({ id: '019d0000-1111-7222-8333-444444444444', dueAt: 5 })
  expect(before).toEqual({ dueAt: new Date(5), id: '019d0000-1111-7222-8333-000000000000' })
})

it('reports a workspace whose tasks found no space, until all of them are read', () => {
  const backlog = createBacklog()
  const hadNoSpace = () => backlog.next(always, 1, 0).map(reading => reading.hadNoSpace)
  backlog.add('a', 0)
  expect(hadNoSpace()).toEqual([false])
  backlog.add('a', 0, position(2))
  backlog.add('a', 0)
  expect(hadNoSpace()).toEqual([true])
  for (const restart of [1, 2]) backlog.recordPage({ workspace: 'a', taken: restart, refused: 0, last: null }, 0)
  backlog.add('a', 0)
  expect(hadNoSpace()).toEqual([false])
})
