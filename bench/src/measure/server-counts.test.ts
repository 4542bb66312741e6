import { expect, it } from 'vitest'
import { countCommands } from './server-counts.ts'

it('adds up the calls of all commands except INFO, which reads them', () => {
  const stats = [
    '# Commandstats',
    'cmdstat_evalsha:calls=12,usec=900,usec_per_call=75.00,rejected_calls=0,failed_calls=0',
    'cmdstat_zadd:calls=30,usec=90,usec_per_call=3.00,rejected_calls=0,failed_calls=0',
    'cmdstat_client|setname:calls=2,usec=2,usec_per_call=1.00,rejected_calls=0,failed_calls=0',
    'cmdstat_info:calls=7,usec=700,usec_per_call=100.00,rejected_calls=0,failed_calls=0',
  ].join('\r\n')
  expect(countCommands(stats)).toBe(44)
  expect(countCommands('')).toBe(0)
})
