import type { ReactNode } from 'react'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { suggestedTarget } from './suggested-target.ts'

/** Shows how to create a task with curl and with the client library. */
export function Snippets({ apiKey }: { apiKey: string | null }): ReactNode {
  const { origin } = window.location
  const key = apiKey ?? 'bf_your_key'
  const target = suggestedTarget(window.location) || 'https://example.com/hooks/hello'
  const at = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 3_600_000).toISOString()
  const curl = [
    `curl -X POST ${origin}/api/v1/scheduler/tasks \\`,
    `  -H 'X-Api-Key: ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"name":"Hello","url":"${target}","method":"POST","payload":{"hello":"world"},"execute_at":"${at}"}'`,
  ].join('\n')
  const client = [
    "import { Belfry } from '@belfry/client'",
    '',
    `const belfry = new Belfry({ apiKey: '${key}', baseUrl: '${origin}' })`,
    '',
    'await belfry.tasks.create({',
    "  name: 'Hello',",
    `  targetUrl: '${target}',`,
    "  method: 'post',",
    '  payload: \'{"hello":"world"}\',',
    '  executeAt: new Date(Date.now() + 60_000),',
    '})',
  ].join('\n')
  return (
    <Tabs
      label="Ways to create a task"
      tabs={[
        { id: 'curl', label: 'curl', content: <CodeBlock text={curl} label="curl command" /> },
        { id: 'client', label: 'TypeScript', content: <CodeBlock text={client} label="client example" /> },
      ]}
    />
  )
}
