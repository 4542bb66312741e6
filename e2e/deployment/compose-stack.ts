import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'

export type ComposeService = {
  image: string
  build?: { target: string }
  command?: string[]
  environment?: Record<string, string>
  depends_on?: Record<string, { condition: string }>
  networks: Record<string, unknown>
  ports?: string[]
  volumes?: string[]
  healthcheck?: { test: string[] }
  restart: string
  stop_grace_period: string
  mem_limit?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  deploy?: { replicas: number }
}

export type ComposeStack = {
  services: Record<string, ComposeService>
  networks: Record<string, { internal?: boolean }>
  volumes: Record<string, unknown>
}

/** Reads the stack with docker-compose, as it does before starting it; rejects with its error message. */
export async function readStack(envFile: string): Promise<ComposeStack> {
  const file = join(repositoryRoot(), 'docker-compose.yml')
  const args = ['--file', file, '--env-file', envFile, 'config']
  // The environment of this process must not fill in a missing variable of the file.
  const { stdout } = await promisify(execFile)('docker-compose', args, { env: { PATH: process.env.PATH } })
  return parse(stdout)
}
