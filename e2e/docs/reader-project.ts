import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pack, type ScratchProject, scratchProject } from '../client/scratch-project.ts'
import { repositoryRoot } from '../repository-root.ts'

/** The folders of a reader: a project with the published client, an empty one, and a checkout for the commands. */
export type ReaderProject = ScratchProject & { checkout: string }

/** Creates them, with the files that the pages name. */
export async function openReaderProject(): Promise<ReaderProject> {
  const [client] = await Promise.all([pack('client'), pack('once')])
  const project = await scratchProject(client, null, { type: 'module' })
  const modules = join(repositoryRoot(), 'e2e/node_modules')
  await symlink(join(modules, 'standardwebhooks'), join(project.folder, 'node_modules/standardwebhooks'))
  const checkout = join(project.folder, 'belfry')
  await Promise.all(['blocks', 'belfry', 'my-program'].map(name => mkdir(join(project.folder, name))))
  await writeFile(join(project.folder, 'my-program/package.json'), '{ "private": true }')
  await Promise.all(
    ['programs', 'prisma', 'scripts'].map(name => symlink(join(repositoryRoot(), name), join(checkout, name))),
  )
  await writeOtherSchedulers(checkout)
  return { ...project, checkout }
}

// The files of the imports, and the outputs of programs that a reader has: see shell.ts.
async function writeOtherSchedulers(folder: string): Promise<void> {
  const samples = join(repositoryRoot(), 'programs/cli/test/files')
  const crontab = '0 2 * * * curl -fsS -X POST https://hooks.example.org/report\n'
  const schedule = {
    scheduleId: 's1',
    cron: '0 2 * * *',
    destination: 'https://hooks.example.org/report',
    method: 'POST',
  }
  await Promise.all([
    writeFile(join(folder, 'crontab.txt'), crontab),
    writeFile(join(folder, 'my-crontab'), crontab),
    writeFile(join(folder, 'schedules.json'), JSON.stringify([schedule])),
    writeFile(join(folder, 'token.txt'), 'github_pat_1'),
    cp(join(samples, 'github-actions/billing'), join(folder, 'path/to/repository'), { recursive: true }),
    cp(join(samples, 'vercel/pro.json'), join(folder, 'vercel.json')),
    cp(join(samples, 'cloud-scheduler/shop.json'), join(folder, 'gcloud.json')),
    cp(join(samples, 'eventbridge/reports.json'), join(folder, 'aws.json')),
  ])
}
