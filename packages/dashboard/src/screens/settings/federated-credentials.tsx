import { checkConditions } from '@belfry/domain/claim-conditions'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Workflow } from 'lucide-react'
import { call } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { SelectField, TextareaField, TextField } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { KeyScopeFields, readScopes, scopeText } from './key-scope-fields.tsx'
import styles from './settings.module.css'
import { TwoLines } from './two-lines.tsx'

export function FederatedCredentials() {
  const { workspace } = useWorkspace()
  return (
    <ResourceList
      title="Federated credentials"
      description="CI jobs exchange their OpenID Connect tokens for an API key that expires within an hour, so no key is stored in CI."
      list={useInfiniteQuery(pagesOf('listFederatedCredentials', { ws: workspace.id }))}
      create={{ label: 'New credential', title: 'New federated credential', right: 'federated_credential.create' }}
      form={() => <FederatedCredentialForm />}
      empty={{
        icon: Workflow,
        title: 'No federated credentials yet',
        children:
          'Trust the jobs of a repository on GitHub Actions, GitLab CI or another service with OpenID Connect tokens.',
      }}
      columns={[
        { header: 'Name', cell: ({ name, id }) => <TwoLines first={name} second={id} /> },
        {
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
          header: 'Access',
          isExtra: true,
          cell: ({ scopes, lifetime_ms }) => (
            <TwoLines first={scopeText(scopes)} second={`for ${Math.round(lifetime_ms / 60_000)} min`} />
          ),
        },
        {
          header: 'Last used',
          isExtra: true,
          cell: ({ last_used_at: at }) => (at ? <RelativeTime at={at} /> : 'Never'),
        },
      ]}
      nameOf={({ name }) => name}
      remove={{
        what: 'credential',
        description: 'Its jobs get no more API keys, and the keys that they have are revoked.',
        right: 'federated_credential.delete',
        run: ({ id }) => call('deleteFederatedCredential', { ws: workspace.id, fed: id }),
      }}
    />
  )
}

const lifetimes = [5, 15, 30, 60].map(minutes => ({ value: minutes, label: `After ${minutes} minutes` }))
const github = 'https://token.actions.githubusercontent.com'

function FederatedCredentialForm() {
  const { workspace } = useWorkspace()
  return (
    <Form
      read={field => ({
        name: field('name').trim(),
        issuer: field('issuer').trim(),
        ...(field('audience').trim() === '' ? {} : { audience: field('audience').trim() }),
        conditions: readConditions(field('conditions')),
        scopes: readScopes(field),
        lifetime_ms: Number(field('lifetime_ms')) * 60_000,
      })}
      check={({ name, conditions, scopes }) => ({
        name: name === '' && 'Enter a name.',
        conditions: conditionProblem(conditions),
        scopes: scopes.length === 0 && 'Select at least one right.',
      })}
      submit={body => call('createFederatedCredential', { ws: workspace.id, body })}
      done={({ name }) => `${name} created`}
      action="Create credential"
    >
      <TextField label="Name" hint="What the jobs do, such as “Deployments”." name="name" />
      <TextField
        label="Issuer"
        hint="GitHub Actions by default. For GitLab the URL of the instance."
        name="issuer"
        defaultValue={github}
        isMono
      />
      <TextareaField
        label="Required claims"
        hint="One per line, such as “repository: acme/app”. * stands for any characters. One line must name the owner of the jobs."
        name="conditions"
        rows={3}
        isMono
      />
      <TextField label="Audience" hint="By default the URL of Belfry." isOptional name="audience" isMono />
      <KeyScopeFields initial="publish" />
      <SelectField label="Keys expire" name="lifetime_ms" defaultValue="15" options={lifetimes} />
    </Form>
  )
}

function conditionProblem(conditions: Record<string, string>): string | undefined {
  const [problem] = checkConditions(conditions)
  return problem && `${problem.name || 'The claims'} must ${problem.must}.`
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
