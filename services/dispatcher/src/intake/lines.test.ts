import { expect, it } from 'vitest'
import { createLines, type Lined, type Turn } from './lines.ts'

type Task = Lined & { n: number }

function setup({ slots = 10, placesPerHost = 100 } = {}) {
  const clock = { now: 1_000_000 }
  const lines = createLines<Task>({ slots, placesPerHost, now: () => clock.now })
  let n = 0
  const add = (workspace: string, host: string, count = 1) => {
    for (let i = 0; i < count; i++) lines.add({ workspace, host, n: n++ })
  }
  const startAll = () => {
    const turns: Turn<Task>[] = []
    for (let turn = lines.next(); turn; turn = lines.next()) turns.push(turn)
    return turns
  }
  return { lines, clock, add, startAll }
}

const count = (turns: Turn<Task>[], key: 'workspace' | 'host', value: string) =>
  turns.filter(({ task }) => task[key] === value).length

it('lets workspaces take turns, however many tasks each has and whoever came first', () => {
  const { add, startAll } = setup()
  add('a', 'x', 50)
  add('b', 'y', 2)
  add('c', 'z', 1)
  const turns = startAll()
  expect(turns.slice(0, 6).map(({ task }) => task.workspace)).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
})

it('keeps the order within a host, and lets the hosts of a workspace take turns', () => {
  const { add, startAll } = setup()
  add('a', 'x', 3)
  add('a', 'y', 2)
  expect(startAll().map(({ task }) => task.n)).toEqual([0, 3, 1, 4, 2])
})

it('gives out no more slots than there are, and keeps one for a workspace that comes later', () => {
  const { lines, add, startAll } = setup({ slots: 10 })
  add('a', 'x', 50)
  expect(startAll()).toHaveLength(9)
  add('b', 'y', 50)
  const [turn] = startAll()
  expect(turn?.task.workspace).toBe('b')
  expect(lines.underWay).toBe(10)
  expect(startAll()).toEqual([])
})

it('never has more attempts at a host than it has places, and some of them are left to other workspaces', () => {
  const { add, startAll } = setup({ slots: 200, placesPerHost: 32 })
  add('a', 'x', 100)
  expect(startAll()).toHaveLength(29)
  add('b', 'x', 100)
  const more = startAll()
  expect(more.length).toBeGreaterThan(0)
  expect(more.length).toBeLessThanOrEqual(3)
  expect(count(more, 'workspace', 'b')).toBe(more.length)
})

it('goes past the tasks of a full host, and back to them when it has room', () => {
  const { lines, add, startAll } = setup({ slots: 20, placesPerHost: 1 })
  add('a', 'x', 3)
  add('a', 'y', 1)
  const turns = startAll()
  expect(turns.map(({ task }) => task.host)).toEqual(['x', 'y'])
  add('a', 'x')
  expect(lines.parkedOf('a')).toBe(3)
  turns[0]?.end('well')
  turns[0]?.end('well')
  expect(startAll().map(({ task }) => task.n)).toEqual([1])
  expect(lines.parkedOf('a')).toBe(2)
})

it('lets a host rest for one workspace only, and wakes it with a single attempt', () => {
  const { lines, clock, add, startAll } = setup({ slots: 100 })
  add('a', 'x', 30)
  const ends = startAll()
    .slice(0, 20)
    .map(turn => turn.end('failing'))
  expect(ends.at(-1)).toEqual({ change: 'resting', restsUntil: clock.now + 30_000 })
  add('a', 'x', 5)
  add('b', 'x', 1)
  add('a', 'y', 1)
  expect(startAll().map(({ task }) => `${task.workspace}${task.host}`)).toEqual(['ay', 'bx'])
  clock.now += 30_000
  lines.wake('x')
  const probes = startAll()
  expect(probes).toHaveLength(1)
  expect(probes[0]?.end('well').change).toBe('rested')
  expect(startAll()).toHaveLength(4)
})

it('gives out what still waits, once', () => {
  const { lines, add, startAll } = setup({ slots: 2 })
  add('a', 'x', 5)
  const started = startAll()
  expect(lines.takeAll()).toHaveLength(5 - started.length)
  expect(lines.takeAll()).toEqual([])
  started[0]?.end('well')
  expect(startAll()).toEqual([])
})

it('gives out what comes next of a line, each task once, as many as its turns end in some milliseconds', () => {
  const { clock, add, startAll } = setup({ slots: 20 })
  add('a', 'x', 200)
  const numbers = (tasks: Task[] = []) => tasks.map(({ n }) => n)
  let turns = startAll()
  expect(turns[0]?.upcoming()).toEqual([])
  const [first] = turns
  for (const turn of turns) turn.end('well')
  clock.now += 99
  expect(first?.upcoming()).toEqual([])
  clock.now += 1
  const from = (start: number, count: number) => Array.from({ length: count }, (_, i) => start + i)
  expect(numbers(first?.upcoming())).toEqual(from(18, 27)) // 18 in a tenth of a second
  expect(first?.upcoming()).toEqual([])
  turns = startAll()
  expect(numbers(turns.map(({ task }) => task))).toContain(26)
  expect(numbers(first?.upcoming())).toEqual(from(45, 18))
  clock.now += 200
  for (const turn of turns) turn.end('well')
  startAll()
  clock.now += 200
  expect(first?.upcoming()).toEqual([])
})

it('gives out no more in all than some, and leaves a part of these to other lines', () => {
  const { clock, add, startAll } = setup({ slots: 3_000, placesPerHost: 3_000 })
  add('a', 'x', 2_000)
  const ofA = startAll()
  for (const turn of ofA) turn.end('well')
  add('a', 'x', 2_000)
  add('b', 'y', 1_000)
  const [ofB] = startAll().filter(({ task }) => task.workspace === 'b')
  ofB?.end('well')
  add('a', 'x', 2_000)
  add('b', 'y', 1_000)
  clock.now += 100
  expect(ofA[0]?.upcoming()).toHaveLength(461)
  expect(ofB?.upcoming()).toHaveLength(2)
})

it('takes out what was upcoming and has not come, and what would call a host that rests, but nothing else', () => {
  const { lines, clock, add, startAll } = setup({ slots: 20 })
  add('a', 'x', 200)
  const [first, ...others] = startAll()
  for (const turn of others) turn.end('well')
  startAll()
  clock.now += 100
  const given = first?.upcoming()
  expect(given).not.toEqual([])
  clock.now += 999
  expect(lines.takeDelayed(1_000)).toEqual([])
  expect(lines.upcoming).toBe(given?.length)
  clock.now += 1
  expect(lines.takeDelayed(1_000)).toEqual(given)
  expect(lines.takeDelayed(0)).toEqual([])
  expect(lines.upcoming).toBe(0)
  const last = setup({ slots: 40 })
  last.add('a', 'x', 200)
  const turns = last.startAll()
  for (const turn of turns.slice(0, 19)) turn.end('failing')
  last.clock.now += 100
  const upcoming = turns[0]?.upcoming()
  expect(turns[19]?.end('failing').change).toBe('resting')
  expect(turns[0]?.upcoming()).toEqual([])
  expect(last.lines.takeDelayed(1_000)).toEqual(upcoming)
  expect(last.lines.takeDelayed(0)).toEqual([])
})

it('forgets hosts that nobody called for a minute, but not who rests or waits', () => {
  const { lines, clock, add, startAll } = setup({ slots: 1000, placesPerHost: 1000 })
  add('a', 'x', 20)
  for (const turn of startAll()) turn.end('failing')
  lines.forget()
  add('a', 'x')
  clock.now += 29_000
  lines.forget()
  expect(startAll()).toEqual([])
  clock.now += 1_000
  lines.wake('x')
  expect(startAll()).toHaveLength(1)
})

it('tells who rests, and goes on at once when that is reset', () => {
  const { lines, add, startAll } = setup({ slots: 1000, placesPerHost: 1000 })
  add('a', 'x', 20)
  add('b', 'x')
  for (const turn of startAll()) turn.end(turn.task.workspace === 'a' ? 'failing' : 'well')
  add('a', 'x', 2)
  expect(startAll()).toEqual([])
  expect(lines.resting()).toEqual([{ workspace: 'a', host: 'x' }])
  lines.reset({ workspace: 'a', host: 'x' })
  lines.reset({ workspace: 'nobody', host: 'nowhere' })
  expect(lines.resting()).toEqual([])
  expect(startAll()).toHaveLength(2)
})

it('starts thousands of tasks of thousands of lines in little time', () => {
  const { add, startAll } = setup({ slots: 100, placesPerHost: 2 })
  for (let i = 0; i < 20_000; i++) add(`w${i % 50}`, `h${i % 5_000}`)
  let started = 0
  for (let turns = startAll(); turns.length > 0; turns = startAll()) {
    started += turns.length
    for (const turn of turns) turn.end('well')
  }
  expect(started).toBe(20_000)
})
