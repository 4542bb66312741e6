import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { repositoryRoot } from '../repository-root.ts'

/** An nginx in front of some apis. */
export type Ingress = {
  url: string
  /** The number of requests that each api received, by its port. */
  served(): Promise<Map<number, number>>
  close(): Promise<void>
}

/**
 * Starts nginx with the settings of docs/nginx.conf, in front of apis on these ports.
 * @param mergeSlashes - Whether nginx merges slashes, which is its own default. Default: as in docs/nginx.conf.
 */
export async function startIngress(apiPorts: readonly number[], { mergeSlashes = false } = {}): Promise<Ingress> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-nginx-'))
  const port = await freePort()
  const documented = await readFile(join(repositoryRoot(), 'docs/nginx.conf'), 'utf8')
  const servers = apiPorts.map(api => `  server 127.0.0.1:${api} max_fails=2 fail_timeout=5s;\n`).join('')
  const site = documented
    .replace(/(^ {2}server 127\.0\.0\.1:\d+ .*;\n)+/m, servers)
    .replace('listen 127.0.0.1:8080;', `listen 127.0.0.1:${port};`)
    .replace('merge_slashes off;', `merge_slashes ${mergeSlashes ? 'on' : 'off'};`)
  await writeFile(join(folder, 'nginx.conf'), surroundings(folder, site))
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
  const nginx = startProcess(['nginx', ...args])
  await waitFor(async () => !nginx.isRunning() || (await fetch(`http://127.0.0.1:${port}`).catch(() => null)), Boolean)
  if (!nginx.isRunning()) throw new Error(`nginx did not start:\n${nginx.output}`)
  return {
    url: `http://127.0.0.1:${port}`,
    async served() {
      const lines = (await readFile(join(folder, 'access.log'), 'utf8')).split('\n')
      const counts = new Map<number, number>()
      for (const line of lines.filter(Boolean)) {
        const api = Number(line.split(':').at(-1))
        counts.set(api, (counts.get(api) ?? 0) + 1)
      }
      return counts
    },
    async close() {
      await nginx.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function surroundings(folder: string, site: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events {}
http {
  log_format upstream '$upstream_addr';
  access_log ${folder}/access.log upstream;
${temporary.map(name => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
${site}
}
`
}
