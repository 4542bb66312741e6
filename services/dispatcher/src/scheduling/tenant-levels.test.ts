import { expect, it } from 'vitest'
import { createTenantLevels, type Holding, type TenantLevelsOptions } from './tenant-levels.ts'

/** Names a workspace by its account, its organization and itself. An account whose name begins with `new` is new. */
const tenantOf = (workspace: string) => {
  const [account = '', organization = ''] = workspace.split('/')
  return { account, organization: `${account}/${organization}`, slotsPercent: 100, isNew: account.startsWith('new') }
}

/** Levels whose workspaces have one leaf each, with any number of tasks. `start` begins their calls, which hang. */
function setup(options: Partial<TenantLevelsOptions> = {}) {
  const clock = { now: 1_000_000 }
  const levels = createTenantLevels<string>({
    slots: 200,
    slowPlaces: 2_000,
    now: () => clock.now,
    tenantOf,
    ...options,
  })
  const waiting = new Map<string, number>()
  const add = (workspace: string, tasks: number) => {
    waiting.set(workspace, (waiting.get(workspace) ?? 0) + tasks)
    levels.add(levels.workspaceOf(workspace), workspace)
  }
  const startOne = (bytes: number) =>
    levels.next(workspace => {
      const left = (waiting.get(workspace) ?? 0) - 1
      if (left < 0) return null
      waiting.set(workspace, left)
      const holding = levels.take(levels.workspaceOf(workspace), workspace, left > 0)
      holding.beginCall(bytes)
      return { workspace, holding }
    })
  /** Starts all calls that may start. Returns the number of each workspace's. */
  const start = (bytes = 0) => {
    const started: { workspace: string; holding: Holding }[] = []
    for (let one = startOne(bytes); one !== null; one = startOne(bytes)) started.push(one)
    return started
  }
  return { levels, clock, add, start }
}

it('moves calls that have taken two seconds out of their slots', () => {
  const { levels, clock, add, start } = setup()
  add('a/o/w', 300)
  const { length } = start()
  expect(length).toBe(200 - levels.free)
  clock.now += 1_999
  expect([levels.moveSlowCalls(), start().length]).toEqual([0, 0])
  clock.now += 1
  expect(levels.moveSlowCalls()).toBe(length)
  expect([levels.free, levels.slowCalls]).toEqual([200, length])
  expect(start()).toHaveLength(300 - length)
})

it('releases what each call holds, once it has moved too', () => {
  const { levels, clock, add, start } = setup()
  add('a/o/w', 100)
  const slow = start()
  clock.now += 2_000
  levels.moveSlowCalls()
  add('a/o/w', 50)
  for (const { holding } of [...slow, ...start()]) holding.release()
  expect([levels.free, levels.slowCalls, levels.moveSlowCalls()]).toEqual([200, 0, 0])
  const account = levels.workspaceOf('a/o/w').parent?.parent
  expect([account?.taken, account?.slow]).toEqual([0, 0])
})

it('lets calls keep their slots while there are no places for them, of which a large one takes several', () => {
  const { levels, clock, add, start } = setup({ slowPlaces: 100 })
  add('a/o/w', 20)
  const large = start(256 * 1024) // nine places each
  clock.now += 2_000
  expect([large.length, levels.moveSlowCalls()]).toEqual([20, 9])
  add('b/o/w', 50)
  const small = start().length
  clock.now += 2_000
  const moved = levels.moveSlowCalls()
  expect(moved).toBeGreaterThan(0)
  expect(levels.free).toBe(200 - 11 - small + moved)
  large[0]?.holding.release()
  expect(levels.moveSlowCalls()).toBeGreaterThan(0)
})

it('keeps the slots that are reserved for accounts without a call from accounts whose calls are slow', () => {
  const { levels, clock, add, start } = setup()
  for (let i = 0; i < 150; i++) add(`a${i}/o/w`, 5)
  for (let i = 0; i < 4; i++) {
    start()
    clock.now += 2_000
    levels.moveSlowCalls()
  }
  start()
  add('idle/o/w', 1)
  expect(start().map(({ workspace }) => workspace)).toEqual(['idle/o/w'])
})

it.each([216, 5_000])('hanging targets of %i new accounts delay no account that has succeeded before', accounts => {
  const { levels, clock, add, start } = setup()
  for (let i = 0; i < accounts; i++) add(`new${i}/o/w`, 2)
  let hanging = 0
  for (let i = 0; i < 100; i++) {
    hanging += start().length
    add(`idle${i}/o/w`, 1)
    const [one, ...more] = start()
    expect([one?.workspace, more.length]).toEqual([`idle${i}/o/w`, 0])
    one?.holding.release()
    clock.now += 250
    levels.moveSlowCalls()
  }
  expect(hanging).toBe(Math.min(accounts * 2, 50 + 500)) // a quarter of each
})

it('gives new accounts a quarter of the slots together, and all of them after a success', () => {
  const isNew = { value: true }
  const { levels, add, start } = setup({ tenantOf: id => ({ ...tenantOf(id), isNew: isNew.value }) })
  add('a/o/w', 300)
  add('b/o/w', 300)
  expect(start().length).toBeLessThanOrEqual(50)
  isNew.value = false
  levels.move('a/o/w')
  expect(new Set(start().map(({ workspace }) => workspace))).toEqual(new Set(['a/o/w']))
  expect(levels.free).toBeLessThan(50)
})

it('an organization takes no more places than its tier allows', () => {
  const { levels, clock, add, start } = setup({
    tenantOf: id => ({ ...tenantOf(id), slotsPercent: 25 }),
    slowPlaces: 100,
  })
  for (let i = 0; i < 10; i++) add(`a/o/w${i}`, 10)
  expect(start()).toHaveLength(50)
  clock.now += 2_000
  expect(levels.moveSlowCalls()).toBe(25)
})
