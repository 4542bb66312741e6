import { freePort } from '@belfry/embedded'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { inMs } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import { repositoryRoot } from '../repository-root.ts'
import { openReaderProject, type ReaderProject } from './reader-project.ts'

/** A running Belfry, a target, and the folders of a reader. */
export type Stage = {
  belfry: Belfry
  target: Receiver
  project: ReaderProject
  signingSecret: string
  env: Record<string, string>
  /** Replaces placeholders of the pages, such as `task_...` and `https://example.com`, by real values. */
  fillIn(text: string): string
  close(): Promise<void>
}

const jobsOfPgCron = `
  CREATE SCHEMA cron;
  CREATE TABLE cron.job AS
  SELECT 1 AS jobid, '0 7 * * *' AS schedule, 'report' AS jobname, 'postgres' AS database, true AS active,
    $$SELECT net.http_post(url := (SELECT decrypted_secret FROM vault.decrypted_secrets WHERE name = 'project_url') || '/report')$$
      AS command`

const operatorPassword = 'a-password-for-the-pages'

/** Starts a stage. */
export async function openStage(): Promise<Stage> {
  const metricsPort = await freePort()
  const env = { OPERATOR_PASSWORD: operatorPassword, METRICS_PORT: String(metricsPort) }
  const [belfry, target, project] = await Promise.all([
    startBelfry('postgres', { services: ['all-in-one'], env }),
    startReceiver(),
    openReaderProject(),
  ])
  const { apiKey = '', token = '', workspaceId = '', organizationId = '' } = belfry.caller
  const { body: secrets } = await belfry.call('GET', `/api/v1/workspaces/${workspaceId}/signing-secrets`)
  const task = await aDeadTask(belfry, target)
  const { body: cronJob } = await belfry.call('POST', '/api/v1/scheduler/cronjobs', aCronJob(target))
  const { body: subscription } = await belfry.call('POST', '/api/v1/scheduler/subscriptions', aSubscription(target))
  await belfry.execute(jobsOfPgCron)
  const signingSecret = secrets.data[0].secret as string
  const places: Array<[RegExp, string]> = [
    [/https:\/\/belfry\.example\.com|http:\/\/localhost:3000/g, belfry.url],
    [/http:\/\/localhost:9090/g, `http://127.0.0.1:${metricsPort}`],
    [/postgresql:\/\/shop@db\.example\.com\/shop/g, belfry.databaseUrl],
    [/\/path\/to\/belfry/g, repositoryRoot()],
    [/\bbf_\.\.\./g, apiKey],
    [/https:\/\/example\.com|http:\/\/127\.0\.0\.1:3001/g, target.url('')],
    [/\bwhsec_\.\.\./g, signingSecret],
    [/\bws_\.\.\./g, workspaceId],
    [/\bsub_\.\.\./g, subscription.id],
    [/\btask_(\.\.\.|01jd0+)/g, task.id],
    [/\brun_\.\.\./g, task.last_run.id],
    [/\bcron_\.\.\./g, cronJob.id],
  ]
  return {
    belfry,
    target,
    project,
    signingSecret,
    env: {
      BELFRY_URL: belfry.url,
      BELFRY_API_KEY: apiKey,
      BELFRY_SIGNING_SECRET: signingSecret,
      OPERATOR_PASSWORD: operatorPassword,
      TOKEN: token,
      WORKSPACE: workspaceId,
      ORGANIZATION: organizationId,
      DATABASE_URL: belfry.databaseUrl,
      OUTBOX_DATABASE_URL: belfry.databaseUrl,
      npm_config_offline: 'true',
      npm_config_prefix: project.folder,
    },
    fillIn: text => places.reduce((filled, [place, value]) => filled.replace(place, value), text),
    async close() {
      await belfry.close()
      await target.close()
    },
  }
}

async function aDeadTask(belfry: Belfry, target: Receiver) {
  target.answer('/gone', { status: 410 })
  const task = { name: 'Gone', url: target.url('/gone'), method: 'POST', execute_at: inMs(5_000) }
  const { body } = await belfry.call('POST', '/api/v1/scheduler/tasks', task)
  const { body: dead } = await waitFor(
    () => belfry.call('GET', `/api/v1/scheduler/tasks/${body.id}`),
    answer => answer.body.state === 'dead',
    60_000,
  )
  return dead
}

function aCronJob(target: Receiver) {
  return { name: 'Yearly', url: target.url('/yearly'), method: 'POST', cron: '0 0 1 1 *' }
}

function aSubscription(target: Receiver) {
  return { topic: 'none.*', url: target.url('/none') }
}
