import { checkConditions } from '@belfry/domain/claim-conditions'
import type { ReactNode } from 'react'
import { createFederatedCredential } from '../../api/federated-credentials.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Select, Textarea, TextInput } from '../../ui/field.tsx'
import { KeyScopeFields, readScopes } from './key-access-fields.tsx'

const lifetimes = [5, 15, 30, 60].map(minutes => ({ value: minutes, label: `After ${minutes} minutes` }))
const github = 'https://token.actions.githubusercontent.com'

export function FederatedCredentialForm({ onDone }: { onDone(): void }): ReactNode {
  const { workspace } = useWorkspace()
  const form = useForm({
    read: field => ({
      name: field('name').trim(),
      issuer: field('issuer').trim(),
      ...(field('audience').trim() === '' ? {} : { audience: field('audience').trim() }),
      conditions: readConditions(field('conditions')),
      scopes: readScopes(field),
      lifetime_ms: Number(field('lifetime_ms')) * 60_000,
    }),
    check: body => ({
      ...(body.name === '' ? { name: 'Enter a name.' } : {}),
      ...conditionProblem(body.conditions),
      ...(body.scopes.length === 0 ? { scopes: 'Select at least one right.' } : {}),
    }),
    submit: body => createFederatedCredential(workspace.id, body),
    onDone,
    done: ({ name }) => `${name} created`,
    affects: [['federated-credentials', workspace.id]],
  })
  return (
    <Form form={form} action="Create credential" more={<Button onClick={onDone}>Cancel</Button>}>
      <Field label="Name" hint="What the jobs do, such as “Deployments”." error={form.errors.name}>
        <TextInput name="name" autoComplete="off" />
      </Field>
      <Field
        label="Issuer"
        hint="GitHub Actions by default. For GitLab the URL of the instance."
        error={form.errors.issuer}
      >
        <TextInput name="issuer" defaultValue={github} isMono autoComplete="off" spellCheck={false} />
      </Field>
      <Field
        label="Required claims"
        hint="One per line, such as “repository: acme/app”. * stands for any characters. One line must name the owner of the jobs."
        error={form.errors.conditions}
      >
        <Textarea name="conditions" rows={3} isMono autoComplete="off" spellCheck={false} />
      </Field>
      <Field label="Audience" hint="By default the URL of Belfry." error={form.errors.audience} isOptional>
        <TextInput name="audience" isMono autoComplete="off" spellCheck={false} />
      </Field>
      <KeyScopeFields errors={form.errors} initial="publish" />
      <Field label="Keys expire" error={form.errors.lifetime_ms}>
        <Select name="lifetime_ms" defaultValue="15" options={lifetimes} />
      </Field>
    </Form>
  )
}

function conditionProblem(conditions: Record<string, string>): { conditions?: string } {
  const [problem] = checkConditions(conditions)
  return problem ? { conditions: `${problem.name || 'The claims'} must ${problem.must}.` } : {}
}

// A value may have colons too.
function readConditions(text: string): Record<string, string> {
  const lines = text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
  return Object.fromEntries(
    lines.map(line => {
      const [, name = line, value = ''] = /^([^\s:=]+)\s*[:=]\s*(.*)$/.exec(line) ?? []
      return [name, value]
    }),
  )
}
