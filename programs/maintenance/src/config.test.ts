import { undocumented } from '@belfry/test-support'
import { expect, it } from 'vitest'
import { backupVariables, readBackupSettings } from './config.ts'

const load = (env: Record<string, string | undefined>) =>
  readBackupSettings({ env, dataDir: '/data', wantedDataDir: '/data', launcher: null })

it('documents each variable of backups', () => {
  const names = Object.keys(backupVariables.shape)
  expect(undocumented({ process: 'backup', names, load, env: {} })).toEqual([])
})

it('keeps backups in the data folder unless told otherwise', () => {
  expect(load({}).folder).toBe('/data/backups')
  expect(load({ BACKUP_FOLDER: 's3://bucket/a' }).folder).toBe('s3://bucket/a')
  expect(() => load({ BACKUP_SCHEDULE: '@daily', BACKUP_KEEP: '0' })).toThrow(/BACKUP_SCHEDULE .*\n?.*BACKUP_KEEP/s)
})
