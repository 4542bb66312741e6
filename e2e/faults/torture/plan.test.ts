import { describe, expect, it } from 'vitest'
import { type Fault, type Operation, planTorture, seats } from './plan.ts'
import { kindNames, kindOf } from './plan-load.ts'

const plans = Array.from({ length: 20 }, (_, i) => planTorture(i + 1, 3))

describe('planTorture', () => {
  it('plans the same for the same seed, as data that JSON keeps', () => {
    expect(planTorture(7, 2)).toEqual(planTorture(7, 2))
    expect(JSON.parse(JSON.stringify(planTorture(7, 2)))).toEqual(planTorture(7, 2))
    expect(planTorture(8, 2)).not.toEqual(planTorture(7, 2))
  })

  it('has every kind of load and fault over 20 seeds', () => {
    const load = new Set(plans.flatMap(plan => plan.load.flatMap(describeOperation)))
    const created = [...load].flatMap(name => (name.startsWith('create ') ? [name.slice(7)] : []))
    expect(created.sort()).toEqual(kindNames.toSorted())
    expect([...load].filter(name => !name.startsWith('create ')).sort()).toEqual([
      ...['bulk cancel', 'bulk discard', 'bulk replay', 'bulk stop', 'burst', 'cancel', 'change'],
      ...['cron job catch_up all', 'cron job catch_up latest', 'cron job catch_up none'],
      ...['cron job overlap allow', 'cron job overlap skip', 'delete cron job', 'pause', 'pause cron job'],
      ...['reschedule cron job', 'resume', 'resume cron job', 'stop', 'trigger cron job'],
    ])
    const faults = plans.flatMap(plan => plan.faults)
    const onServers = faults.flatMap(fault => ('process' in fault ? [] : [fault.does]))
    expect([...new Set(onServers)].sort()).toEqual([
      ...['back up', 'close connections', 'fail over', 'fill disk', 'flush Redis', 'hang commits', 'hide time zones'],
      ...['kill Redis', 'restart PostgreSQL', 'restore', 'step PostgreSQL clock'],
    ])
    for (const seat of seats) {
      const own = faults.flatMap(fault => ('process' in fault && fault.process === seat ? [fault] : []))
      expect([...new Set(own.map(({ does }) => does))].sort()).toEqual([
        ...['clock', 'freeze', 'kill', 'network', 'terminate'],
      ])
      const pairs = own.flatMap(fault => (fault.does === 'network' ? [`${fault.to} ${fault.mode.does}`] : []))
      expect([...new Set(pairs)].sort()).toEqual(
        ['postgres', 'redis'].flatMap(to => ['black_hole', 'delay', 'refuse', 'reset'].map(mode => `${to} ${mode}`)),
      )
    }
  })

  it('plans a part', () => {
    const faults = (fault: Fault) => fault.does === 'freeze'
    const plan = planTorture(7, 2, {
      kinds: ['slow'],
      perSecond: 2,
      isAlone: true,
      faults,
      settings: { HOST_RATE: '1' },
    })
    expect(new Set(plan.faults.map(({ does }) => does))).toEqual(new Set(['freeze']))
    expect(new Set(plan.load.flatMap(describeOperation))).toEqual(new Set(['create slow']))
    expect(plan).toMatchObject({ settings: { HOST_RATE: '1' }, load: { length: 240 } })
  })

  it('ends each fault before the load, restores only what was backed up, and prepares PostgreSQL for one special fault', () => {
    const special = ['step PostgreSQL clock', 'fail over', 'fill disk', 'restore']
    for (const { faults, load } of plans) {
      expect(Math.max(...faults.map(({ at, forMs }) => at + forMs), ...load.map(({ at }) => at))).toBeLessThan(180_000)
      const kinds = faults.map(({ does }) => does)
      expect(new Set(kinds.filter(does => special.includes(does))).size).toBeLessThanOrEqual(1)
      expect(kinds.includes('restore')).toBe(kinds.includes('back up'))
    }
  })
})

function describeOperation(operation: Operation): string[] {
  if (operation.does === 'create') return [`create ${kindOf(operation.task.path)}`]
  if (operation.does === 'bulk') return [`bulk ${operation.action}`]
  if (operation.does === 'operate cron job') return [`${operation.kind} cron job`]
  if (operation.does === 'create cron job')
    return [`cron job catch_up ${operation.cron.catchUp}`, `cron job overlap ${operation.cron.overlap}`]
  return [operation.does]
}
