import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findRedisServer } from '@belfry/test-support/servers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../repository-root.ts'
import { makeTemplate, type Template } from '../fixture/template.ts'
import { proveOnce } from './prove-once.ts'

describe.skipIf(!findRedisServer())('prove:once, which requires Redis', () => {
  let template: Template
  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [join(repositoryRoot(), 'scripts/bundle-faults.mjs'), '--bundled'])
    template = await makeTemplate()
  })
  afterAll(() => template?.remove())

  it('counts one effect of each stored order and none of others, though every process is killed', async () => {
    const proof = await proveOnce(template, { calls: 500, kills: 10, store: 'pg', seed: 1 }, () => {})
    expect(proof).toMatchObject({ stored: 450, lost: 0, doubled: 0, rolledBack: 0 })
    expect(proof.repeated).toBeGreaterThanOrEqual(25) // whose answers were lost
  })

  it('counts double effects of a receiver without once()', async () => {
    const proof = await proveOnce(template, { calls: 60, kills: 0, store: 'none', seed: 1 }, () => {})
    expect(proof).toMatchObject({ stored: 54, lost: 0, doubled: 3, rolledBack: 0 })
  })
})
