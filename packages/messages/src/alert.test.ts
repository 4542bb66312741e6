import { expect, it } from 'vitest'
import type { Alert } from './alert.ts'
import { alertMail, discordBody, slackBody, webhookBody } from './alert-bodies.ts'

const alert: Alert = {
  event: 'task.dead',
  at: '2026-11-21T02:20:00.000Z',
  workspace: { id: 'ws_1', name: 'Main' },
  count: 37,
  items: [
    { id: 'task_1', name: '<!channel> & <https://evil.example|click>' },
    { id: 'task_2', name: '@everyone' },
  ],
}

it('counts them all and names the first few', () => {
  expect(alertMail('a@example.com', alert, null).subject).toBe('Belfry: 37 tasks are dead in the workspace "Main"')
  expect(alertMail('a@example.com', alert, null).text).toContain('@everyone (task_2)\n\nand 35 more')
  expect(alertMail('a@example.com', { ...alert, count: 2 }, null).text).not.toContain('more')
})

it('reports more than ten thousand as more', () => {
  const { text } = alertMail('a@example.com', { ...alert, count: 10_001 }, null)
  expect(text).toContain('more than 10,000 tasks are dead')
  expect(text).toContain('and many more')
})

it('does not let names mention people or become links', () => {
  expect(slackBody(alert)).not.toMatch(/[<>]/)
  expect(JSON.parse(slackBody(alert)).text).toContain('&lt;!channel&gt; &amp; &lt;https:')
  expect(JSON.parse(discordBody(alert)).allowed_mentions).toEqual({ parse: [] })
  const linked = { ...alert, items: [{ id: 'task_1', name: '[safe](https://evil.example) **loud**' }] }
  expect(JSON.parse(discordBody(linked)).content).toContain(
    '\\[safe\\](https://evil.example) \\*\\*loud\\*\\* (task\\_1)',
  )
})

it('stays within the limits of Slack and Discord', () => {
  const long = { ...alert, items: Array.from({ length: 5 }, () => ({ id: 'task_1', name: '𝒳'.repeat(900) })) }
  expect(JSON.parse(discordBody(long)).content).toHaveLength(2_000)
  expect(JSON.parse(slackBody(long)).text).toHaveLength(2_000)
})

it('has the format of Standard Webhooks for webhooks', () => {
  expect(JSON.parse(webhookBody(alert))).toEqual({
    type: 'task.dead',
    timestamp: alert.at,
    data: { message: expect.any(String), workspace: alert.workspace, count: 37, items: alert.items },
  })
})
