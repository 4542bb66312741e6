import { operations } from '@belfry/contract/operations'
import { expect, it } from 'vitest'
import { examplesPage } from './examples-page.ts'

const page = examplesPage()

it('has a request and a response of each operation', () => {
  const count = Object.keys(operations).length
  expect(page.match(/^curl .*"\$BELFRY_URL\/[\w./-]+(\?[\w&=.]+)?"/gm)).toHaveLength(count)
  expect(page.match(/^Response `[23]\d\d`/gm)).toHaveLength(count)
})

it('sends no member that an operation does without', () => {
  expect(page).toContain(`-d '{"ids":["task_01kajvz3e9fkwvx3tb1h2c4d5e"],"action":"replay"}'`)
  expect(page).toContain(`-d '{"topic":"orders.paid","payload":{"order":42}}'`)
})

it('shows an event of a stream, and a row of an export', () => {
  expect(page).toMatch(/^event: run\ndata: \{"id":"run_/m)
  expect(page).toMatch(/^id,name,source,.*\r\ntask_\w+,Trial reminder,task,/m)
})

it('has no times that are relative to now', () => {
  expect(page).not.toContain('now+')
})
