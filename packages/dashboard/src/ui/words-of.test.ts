import { expect, it } from 'vitest'
import { wordsOf } from './words-of.ts'

it('a code in words is a sentence', () => {
  const codes = ['email', 'cron_job', 'cron_job.paused', 'api_key.created', 'password_reset_requested']
  const words = ['Email', 'Cron job', 'Cron job paused', 'API key created', 'Password reset requested']
  expect(codes.map(wordsOf)).toEqual(words)
})
