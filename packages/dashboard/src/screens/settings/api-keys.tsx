import type { ApiKey, NewApiKey } from '@belfry/contract/api-key'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Ban, KeyRound, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ConfirmButton, DialogButton } from '../../layout/change-buttons.tsx'
import { isKeyOver } from '../../layout/is-key-over.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { SaveKey } from '../../layout/save-key.tsx'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { optionsOf, SelectField, TextareaField, TextField } from '../../ui/field.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import { KeyScopeFields, readScopes, scopeText } from './key-scope-fields.tsx'
import styles from './settings.module.css'
import { TwoLines } from './two-lines.tsx'

export function ApiKeys() {
  const { workspace } = useWorkspace()
  const [created, setCreated] = useState<NewApiKey | null>(null)
  return (
    <ResourceList
      title="API keys"
      description={`A key grants access to the tasks, cron jobs and events of ${workspace.name}, with at most the rights of its creator. Send it in the X-Api-Key header.`}
      list={useInfiniteQuery(pagesOf('listApiKeys', { ws: workspace.id }))}
      create={{ label: 'New API key', right: 'api_key.create' }}
      form={() => <NewKeyForm onCreated={setCreated} />}
      empty={{
        icon: KeyRound,
        title: 'No API keys yet',
        children:
          'Your server needs an API key to schedule webhooks. Create one per application, so you can revoke each one separately.',
      }}
      columns={[
        { header: 'Name', cell: key => <TwoLines first={key.name} second={key.subject} /> },
        { header: 'Prefix', isExtra: true, cell: key => <code className={styles.mono}>{key.prefix}…</code> },
        {
          header: 'Access',
          isExtra: true,
          cell: ({ scopes, allowed_ranges: ranges }) => (
            <TwoLines first={scopeText(scopes)} second={ranges.length > 0 && `From ${ranges.join(', ')}`} />
          ),
        },
        { header: 'Status', cell: key => <KeyStatus apiKey={key} /> },
        {
          header: 'Last used',
          isExtra: true,
          cell: ({ last_used_at: at, last_used_address: address }) =>
            at ? <TwoLines first={<RelativeTime at={at} />} second={address} /> : 'Never',
        },
        { header: 'Created', isExtra: true, cell: key => <RelativeTime at={key.created_at} /> },
      ]}
      actions={key =>
        isKeyOver(key) ? null : (
          <>
            {key.federated_credential_id === null && (
              <DialogButton
                label={`Roll ${key.name}`}
                icon={<RefreshCw size={16} />}
                description="Creates a new key with the same name, rights and allowed addresses."
                right="api_key.create"
              >
                <Form
                  read={field => ({ overlap_ms: Number(field('overlap_ms')) })}
                  submit={body => call('rollApiKey', { ws: workspace.id, key: key.id, body })}
                  onDone={setCreated}
                  action="Roll key"
                >
                  <SelectField
                    label="Keep the previous key"
                    hint="Put the new key into your applications within this time."
                    name="overlap_ms"
                    defaultValue={24 * hourMs}
                    options={overlaps}
                  />
                </Form>
              </DialogButton>
            )}
            <ConfirmButton
              label={`Revoke ${key.name}`}
              icon={<Ban size={16} />}
              description="Calls with this key are rejected within five seconds. Tasks that it created stay scheduled. This cannot be undone."
              action="Revoke key"
              right="api_key.revoke"
              run={() => call('revokeApiKey', { ws: workspace.id, key: key.id })}
              done={`${key.name} revoked`}
            />
          </>
        )
      }
    >
      <Dialog
        isOpen={created !== null}
        onClose={() => setCreated(null)}
        title="Copy your API key"
        description="You can see it only this once. Belfry stores only its hash."
      >
        <CodeBlock text={created?.key ?? ''} label="API key" isWrapped />
        <DialogActions>
          <SaveKey apiKey={created?.key ?? ''} />
          <Button kind="primary" onClick={() => setCreated(null)}>
            I have copied it
          </Button>
        </DialogActions>
      </Dialog>
    </ResourceList>
  )
}

function KeyStatus({ apiKey }: { apiKey: ApiKey }) {
  if (apiKey.revoked_at) return <Badge>Revoked</Badge>
  if (!apiKey.expires_at) return <Badge tone="good">Active</Badge>
  const isExpired = isKeyOver(apiKey)
  return (
    <Badge tone={isExpired ? 'plain' : 'warn'}>
      {isExpired ? 'Expired' : 'Expires'} <AbsoluteTime at={apiKey.expires_at} />
    </Badge>
  )
}

const lifetimes = optionsOf({ 7: 'In 7 days', 30: 'In 30 days', 90: 'In 90 days', 365: 'In 1 year' })

function NewKeyForm({ onCreated }: { onCreated(key: NewApiKey): void }) {
  const { workspace } = useWorkspace()
  const { max_api_key_days: maxDays } = useOrganization().organization
  return (
    <Form
      read={field => ({
        name: field('name').trim(),
        scopes: readScopes(field),
        allowed_ranges: field('allowed_ranges').match(/[^\s,]+/g) ?? [],
        ...inDays(field('expires_at')),
      })}
      check={({ name, scopes }) => ({
        name: name === '' && 'Enter a name.',
        scopes: scopes.length === 0 && 'Select at least one right.',
      })}
      submit={body => call('createApiKey', { ws: workspace.id, body })}
      onDone={onCreated}
      action="Create key"
    >
      <TextField label="Name" hint="Name the app or server that will use it, such as “Billing server”." name="name" />
      <KeyScopeFields initial="full" />
      <TextareaField
        label="Allowed addresses"
        hint="One range per line, such as 192.0.2.0/24. Leave empty to allow all addresses."
        isOptional
        name="allowed_ranges"
        rows={2}
        isMono
      />
      <SelectField
        label="Expires"
        hint={maxDays === null ? undefined : `Your organization limits new keys to ${maxDays} days.`}
        name="expires_at"
        options={[
          { value: '', label: maxDays === null ? 'Never' : `In ${maxDays} days` },
          ...lifetimes.filter(({ value }) => maxDays === null || Number(value) < maxDays),
        ]}
      />
    </Form>
  )
}

// Without an end the API takes the latest that the organization allows.
function inDays(days: string): { expires_at?: string } {
  return days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }
}

const hourMs = 3_600_000

const overlaps = [
  { value: hourMs, label: 'For 1 hour' },
  { value: 24 * hourMs, label: 'For 24 hours' },
  { value: 7 * 24 * hourMs, label: 'For 7 days' },
  { value: 0, label: 'Not at all: revoke it now' },
]
