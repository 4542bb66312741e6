import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { inMs } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import { pack, type ScratchProject, scratchProject } from '../client/scratch-project.ts'
import { repositoryRoot } from '../repository-root.ts'

/** A running Belfry, a target, and a project with the published client, as readers of the pages have them. */
export type Stage = {
  belfry: Belfry
  target: Receiver
  project: ScratchProject
  signingSecret: string
  env: Record<string, string>
  /** Replaces placeholders of the pages, such as `task_...` and `https://example.com`, by real values. */
  fillIn(text: string): string
  close(): Promise<void>
}

const operatorPassword = 'a-password-for-the-pages'

/** Starts a stage. */
export async function openStage(): Promise<Stage> {
  const [belfry, target, project] = await Promise.all([
    startBelfry('postgres', { services: ['all-in-one'], env: { OPERATOR_PASSWORD: operatorPassword } }),
    startReceiver(),
    openProject(),
  ])
  const { apiKey = '', workspaceId = '', organizationId = '' } = belfry.caller
  const { body: secrets } = await belfry.call('GET', `/api/v1/workspaces/${workspaceId}/signing-secrets`)
  const task = await aDeadTask(belfry, target)
  const { body: cronJob } = await belfry.call('POST', '/api/v1/scheduler/cronjobs', aCronJob(target))
  const signingSecret = secrets.data[0].secret as string
  const places: Array<[RegExp, string]> = [
    [/https:\/\/belfry\.example\.com/g, belfry.url],
    [/https:\/\/example\.com|http:\/\/127\.0\.0\.1:3001/g, target.url('')],
    [/\bwhsec_\.\.\./g, signingSecret],
    [/\bws_\.\.\./g, workspaceId],
    [/\borg_\.\.\./g, organizationId],
    [/\btask_(\.\.\.|01jd0+)/g, task.id],
    [/\brun_\.\.\./g, task.last_run.id],
    [/\bcron_\.\.\./g, cronJob.id],
    [/\b2027-/g, '2097-'],
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
    },
    fillIn: text => places.reduce((filled, [place, value]) => filled.replace(place, value), text),
    async close() {
      await belfry.close()
      await target.close()
    },
  }
}

async function openProject(): Promise<ScratchProject> {
  const project = await scratchProject(await pack('client'), null, { type: 'module' })
  const modules = join(repositoryRoot(), 'e2e/node_modules')
  await symlink(join(modules, 'standardwebhooks'), join(project.folder, 'node_modules/standardwebhooks'))
  await mkdir(join(project.folder, 'blocks'))
  const crontab = '0 2 * * * curl -fsS -X POST https://hooks.example.org/report\n'
  await writeFile(join(project.folder, 'my-crontab'), crontab)
  const schedule = {
    scheduleId: 's1',
    cron: '0 2 * * *',
    destination: 'https://hooks.example.org/report',
    method: 'POST',
  }
  await writeFile(join(project.folder, 'schedules.json'), JSON.stringify([schedule]))
  return project
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
