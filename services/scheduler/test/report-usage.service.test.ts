import { randomUUID } from 'node:crypto'
import type { Message } from '@belfry/messages'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import { reportUsage } from '../src/report-usage.ts'
import { openTestContext } from './setup.ts'

const never = new AbortController().signal

let ctx: Context
beforeEach(async () => {
  ctx = await openTestContext()
})
afterEach(() => ctx.close())

// Reports October, on the given day of November.
const report = (day: number) => reportUsage(ctx, never, new Date(Date.UTC(2026, 10, day, 3)))

async function mails(): Promise<Array<{ to: string; subject: string; text: string }>> {
  const { rows } = await ctx.pool.query<{ message: Extract<Message, { type: 'mail' }> }>(
    `SELECT convert_from(content, 'UTF8')::json AS message FROM outbox`,
  )
  return rows.map(({ message }) => message.mail)
}

async function anOrganization(name: string, { executions = 0, createdAt = '2026-10-05' }): Promise<void> {
  const { pool } = ctx
  const id = randomUUID()
  const organization = `INSERT INTO organizations (id, name, slug, tier, created_at) VALUES ($1, $2, $2, 'free', $3)`
  await pool.query(organization, [id, name, createdAt])
  const used = `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
                VALUES ('2026-10-01', $1, $2, 0, 0, 10000)`
  await pool.query(used, [id, executions])
  for (const role of ['owner', 'admin']) {
    const userId = randomUUID()
    const user = `INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, 'A user', 'none')`
    await pool.query(user, [userId, `${role}-of-${name}@example.com`])
    const membership = 'INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, $3::role)'
    await pool.query(membership, [id, userId, role])
  }
}

it('mails each owner once what the organization used last month, with two schedulers at once', async () => {
  await anOrganization('acme', { executions: 1234 })
  await anOrganization('idle', {})
  await anOrganization('later', { executions: 1, createdAt: '2026-11-01' })
  expect((await Promise.all([report(1), report(1)])).sort()).toEqual([0, 1])
  expect(await report(2)).toBe(0)
  const [mail, ...others] = await mails()
  expect([mail?.to, mail?.subject, others]).toEqual(['owner-of-acme@example.com', 'acme: usage in October 2026', []])
  expect(mail?.text).toContain('1,234 of 10,000 executions')
  expect(mail?.text).toContain('http://belfry.test/acme/settings/usage')
})

it('sends no report that is a week late', async () => {
  await anOrganization('acme', { executions: 1234 })
  expect(await report(8)).toBe(0)
  expect(await mails()).toEqual([])
})
