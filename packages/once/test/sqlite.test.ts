import Database from 'libsql'
import { beforeEach, expect, it } from 'vitest'
import { once, type Run, sqlite } from '../src/index.ts'
import { createEffects, insertEffect } from './receive.ts'

let db: Database.Database
beforeEach(() => {
  db = new Database(':memory:')
  db.exec(createEffects)
  db.exec(sqlite.createTable)
})

const run: Run<unknown[]> = (text, ...values) => db.prepare(text.join('?')).all(...values)
const receive = <Answer>(id: string, work: () => Answer) => db.transaction(() => once(run, id, work, sqlite))()
const effects = () => db.prepare('SELECT number FROM effects').all()

it('does the work once, without a promise, and returns the first answer again', () => {
  const request = (number: number) =>
    receive('task_1', () => {
      db.exec(insertEffect('task_1', number))
      return { number }
    })
  expect([request(1), request(2)]).toEqual([{ number: 1 }, { number: 1 }])
  expect(effects()).toEqual([{ number: 1 }])
})

it('does the work again after it has failed', () => {
  const request = (fails: boolean) =>
    receive('task_1', () => {
      db.exec(insertEffect('task_1'))
      if (fails) throw new Error('The work failed.')
    })
  expect(() => request(true)).toThrow('The work failed.')
  expect(effects()).toEqual([])
  expect([request(false), request(false)]).toEqual([undefined, undefined])
  expect(effects()).toHaveLength(1)
})

it('forgets ids that are older than some days', () => {
  for (const days of [29, 31])
    db.exec(`INSERT INTO received_webhooks (id, received_at) VALUES ('${days}', datetime('now', '-${days} days'))`)
  db.exec(sqlite.deleteOlderThan(30))
  expect(db.prepare('SELECT id FROM received_webhooks').all()).toEqual([{ id: '29' }])
})
