import { originOfUrl } from '@belfry/domain/target-url'
import { expect, it } from 'vitest'
import { originOf } from '../src/tasks/task-row.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()

it.each([
  ['https://a.example', 'https://a.example'],
  ['HTTPS://A.Example:443/x/y?z=//b', 'HTTPS://A.Example:443'],
  ['http://a.example?x=https://b.example/', 'http://a.example'],
  ['http://[::1]:8080/', 'http://[::1]:8080'],
  ['https://{{secrets.HOST}}/x', 'https://{{secrets.HOST}}'],
  ['{{secrets.URL}}', '{{secrets.URL}}//'],
  ['{{secrets.URL}}/a/b/c', '{{secrets.URL}}//b'],
])('the origin of %s is the same here and in PostgreSQL', async (url, origin) => {
  const { rows } = await db.pool.query(`SELECT ${originOf('url')} AS origin FROM (VALUES ($1::text)) v (url)`, [url])
  expect(rows).toEqual([{ origin }])
  expect(originOfUrl(url)).toBe(origin)
})
