import { checkConditions } from '@belfry/domain/claim-conditions'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Trash2, Workflow } from 'lucide-react'
import type { ReactNode } from 'react'
import {
  createFederatedCredential,
  deleteFederatedCredential,
  federatedCredentialsQuery,
} from '../../api/workspace-settings.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { ConfirmButton } from '../../layout/row-buttons.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Select, Textarea, TextInput } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { KeyScopeFields, readScopes } from './key-access-fields.tsx'
import { scopeText } from './scope-text.ts'
import styles from './settings.module.css'

export function FederatedCredentials(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(federatedCredentialsQuery(workspace.id))
  const deleteRefusal = useRefusal('federated_credential.delete')
  return (
    <ResourceList
      title="Federated credentials"
      description="CI jobs exchange their OpenID Connect tokens for an API key that expires within an hour, so no key is stored in CI."
      list={list}
      rows={list.data?.items}
      rowKey={({ id }) => id}
      create={{
        label: 'New credential',
        title: 'New federated credential',
        refusal: useRefusal('federated_credential.create'),
        form: close => <FederatedCredentialForm onDone={close} />,
      }}
      empty={{
        icon: Workflow,
        title: 'No federated credentials yet',
        children:
          'Trust the jobs of a repository on GitHub Actions, GitLab CI or another service with OpenID Connect tokens.',
      }}
      columns={[
        {
          id: 'name',
          header: 'Name',
          cell: ({ name, id }) => (
            <span className={styles.twoLines}>
              {name}
              <span>{id}</span>
            </span>
          ),
        },
        {
          id: 'trusts',
          header: 'Trusted jobs',
          isExtra: true,
          cell: ({ issuer, conditions }) => (
            <span className={styles.twoLines}>
              {new URL(issuer).host}
              {Object.entries(conditions).map(([claim, value]) => (
                <span key={claim}>
                  {claim}: {value}
                </span>
              ))}
            </span>
          ),
        },
        {
          id: 'access',
          header: 'Access',
          isExtra: true,
          cell: ({ scopes, lifetime_ms }) => (
            <span className={styles.twoLines}>
              {scopeText(scopes)}
              <span>for {Math.round(lifetime_ms / 60_000)} min</span>
            </span>
          ),
        },
        {
          id: 'used',
          header: 'Last used',
          isExtra: true,
          cell: ({ last_used_at: at }) => (at ? <RelativeTime at={at} /> : 'Never'),
        },
      ]}
      actions={({ id, name }) => (
        <ConfirmButton
          label={`Delete ${name}`}
          icon={<Trash2 size={16} />}
          description="Its jobs get no more API keys, and the keys that they have are revoked."
          action="Delete credential"
          refusal={deleteRefusal}
          run={() => deleteFederatedCredential(workspace.id, id)}
          affects={[['federated-credentials', workspace.id]]}
          done={`${name} deleted`}
        />
      )}
    />
  )
}

const lifetimes = [5, 15, 30, 60].map(minutes => ({ value: minutes, label: `After ${minutes} minutes` }))
const github = 'https://token.actions.githubusercontent.com'

function FederatedCredentialForm({ onDone }: { onDone(): void }): ReactNode {
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
