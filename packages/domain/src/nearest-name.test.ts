import { describe, expect, it } from 'vitest'
import { nearestName } from './nearest-name.ts'

const known = ['name', 'url', 'method', 'headers', 'payload', 'execute_at', 'retry', 'timeout_ms']

describe('nearestName', () => {
  it.each([
    ['executeAt', 'execute_at'],
    ['ExecuteAt', 'execute_at'],
    ['execute-at', 'execute_at'],
    ['executeat', 'execute_at'],
    ['exceute_at', 'execute_at'],
    ['EXECUTE_AT', 'execute_at'],
    ['timeoutMs', 'timeout_ms'],
    ['timeout', 'timeout_ms'],
    ['targetUrl', 'url'],
    ['target_url', 'url'],
    ['uri', 'url'],
    ['Name', 'name'],
    ['nmae', 'name'],
    ['header', 'headers'],
    ['metod', 'method'],
    ['paylaod', 'payload'],
  ])('takes %s for %s', (name, meant) => {
    expect(nearestName(name, [...known])).toBe(meant)
  })

  it.each(['', 'x', 'cron', 'body', 'description', '__proto__', 'execute_at'.repeat(7)])(
    'finds no name near %j',
    name => {
      expect(nearestName(name, known)).toBeNull()
    },
  )

  it('prefers the nearer of two', () => {
    expect(nearestName('stat', ['status', 'state'])).toBe('state')
  })

  it('counts swapped neighbours as one mistake', () => {
    expect(nearestName('ot', ['to'])).toBe('to')
  })
})
