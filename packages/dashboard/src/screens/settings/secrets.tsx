import type { Secret, SigningSecret } from '@belfry/contract/secret'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Ban, LockKeyhole, RefreshCw } from 'lucide-react'
import { call } from '../../api/call.ts'
import { allOf, pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ChangeSwitch, ConfirmButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextareaField, TextField } from '../../ui/field.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import { HiddenSecret } from './hidden-secret.tsx'
import styles from './settings.module.css'

export function Secrets() {
  const { workspace } = useWorkspace()
  const delay = 'New requests use the value within five seconds.'
  return (
    <ResourceList
      title="Secrets"
      description="Values for URLs, headers and payloads, filled in when a request is sent. They are never shown again, not even in the log when a target echoes them."
      list={useInfiniteQuery(pagesOf('listSecrets', { ws: workspace.id }))}
      rowKey={secret => secret.name}
      create={{ label: 'New secret', description: delay, right: 'secret.write' }}
      form={secret => <SecretForm secret={secret} />}
      empty={{
        icon: LockKeyhole,
        title: 'No secrets yet',
        children: (
          <>
            Store a token here and write <code>{'{{ secrets.API_TOKEN }}'}</code> where a task needs it.
          </>
        ),
      }}
      columns={[
        {
          header: 'Name',
          cell: ({ name }) => (
            <>
              <code className={styles.mono}>{name}</code>{' '}
              <CopyButton text={`{{ secrets.${name} }}`} label={`Copy reference to ${name}`} />
            </>
          ),
        },
        {
          header: 'Allowed hosts',
          isExtra: true,
          cell: ({ allowed_hosts }) =>
            allowed_hosts === null ? 'All' : <code className={styles.mono}>{allowed_hosts.join(' ')}</code>,
        },
        { header: 'Updated', cell: secret => <RelativeTime at={secret.updated_at} /> },
      ]}
      nameOf={({ name }) => name}
      edit={{ title: ({ name }) => `Replace ${name}`, description: delay, right: 'secret.write' }}
      remove={{
        what: 'secret',
        description: 'Requests that reference it fail until you create a secret with this name again.',
        right: 'secret.write',
        run: ({ name }) => call('deleteSecret', { ws: workspace.id, name }),
      }}
    >
      <div className={styles.section}>
        <ChangeSwitch
          label="Keep responses to requests with secrets"
          hint="When off, the log shows only the status of a response to a request with a secret."
          isOn={workspace.keeps_responses_with_secrets}
          refusal={useRefusal('workspace.change')}
          run={isOn => call('updateWorkspace', { ws: workspace.id, body: { keeps_responses_with_secrets: isOn } })}
        />
      </div>
    </ResourceList>
  )
}

const namePattern = /^[A-Z][A-Z0-9_]{0,63}$/

function SecretForm({ secret }: { secret: Secret | null }) {
  const { workspace } = useWorkspace()
  return (
    <Form
      read={field => ({
        name: secret?.name ?? field('name').trim(),
        value: field('value'),
        allowed_hosts: field('allowed_hosts').match(/[^\s,]+/g),
      })}
      check={({ name, value }) => ({
        name: !namePattern.test(name) && 'Use capital letters, digits and underscores, starting with a letter.',
        value: value === '' && 'Enter a value.',
      })}
      submit={({ name, ...body }) => call('putSecret', { ws: workspace.id, name, body })}
      done={({ name }) => (secret ? `${name} updated` : `${name} created`)}
      action={secret ? 'Replace value' : 'Create secret'}
    >
      {!secret && (
        <TextField
          label="Name"
          hint="Such as API_TOKEN. An existing secret with this name is replaced."
          name="name"
          isMono
          autoCapitalize="characters"
        />
      )}
      <TextareaField
        label="Value"
        hint="At least four characters. It is never shown again."
        name="value"
        isMono
        rows={3}
      />
      <TextField
        label="Allowed hosts"
        hint="Separated by spaces, such as api.example.com or *.example.com. Empty: the secret can be sent to every host."
        name="allowed_hosts"
        isMono
        defaultValue={secret?.allowed_hosts?.join(' ') ?? ''}
      />
    </Form>
  )
}

const example = `import { webhooks } from '@belfry/client'

const event = await webhooks.verify(rawBody, request.headers, process.env.BELFRY_SIGNING_SECRET)`

export function SigningSecrets() {
  const { workspace } = useWorkspace()
  return (
    <ResourceList
      title="Signing secrets"
      description="Deliveries are signed as specified by Standard Webhooks, so receivers can verify that they come from this workspace."
      list={useQuery(allOf('listSigningSecrets', { ws: workspace.id }))}
      empty={{ title: 'No signing secrets' }}
      buttons={
        <ConfirmButton
          text="Rotate"
          icon={<RefreshCw size={16} />}
          right="signing_secret.rotate"
          title="Rotate the signing secret?"
          description="Deliveries are signed with a new secret. For 24 hours they are also signed with the current one, so receivers have time to switch."
          action="Rotate"
          isDangerous={false}
          run={() => call('rotateSigningSecret', { ws: workspace.id })}
          done="Signing secret rotated"
        />
      }
      columns={[
        { header: 'Secret', cell: ({ secret }) => <HiddenSecret text={secret} /> },
        {
          header: 'Status',
          cell: ({ expires_at }) =>
            expires_at ? (
              <Badge tone="warn">
                Previous, expires <AbsoluteTime at={expires_at} />
              </Badge>
            ) : (
              <Badge tone="good">Current</Badge>
            ),
        },
        ...(workspace.asymmetric_signatures
          ? [
              {
                header: 'Public key',
                isExtra: true,
                cell: ({ public_key }: SigningSecret) => (
                  <span className={styles.secret}>
                    <code>{public_key.slice(0, 16)}…</code>
                    <CopyButton text={public_key} label="Copy public key" />
                  </span>
                ),
              },
            ]
          : []),
        { header: 'Created', isExtra: true, cell: one => <RelativeTime at={one.created_at} /> },
      ]}
      actions={({ id, expires_at }) =>
        expires_at && (
          <ConfirmButton
            label="Revoke previous secret"
            icon={<Ban size={16} />}
            title="Revoke the previous secret?"
            description="Receivers that still verify with it will reject deliveries."
            action="Revoke"
            right="signing_secret.revoke"
            run={() => call('revokeSigningSecret', { ws: workspace.id, secret: id })}
            done="Previous secret revoked"
          />
        )
      }
    >
      <div className={styles.section}>
        <ChangeSwitch
          label="Also sign with Ed25519"
          hint="Receivers verify with the public key; no shared secret needed."
          isOn={workspace.asymmetric_signatures}
          refusal={useRefusal('workspace.change')}
          run={isOn => call('updateWorkspace', { ws: workspace.id, body: { asymmetric_signatures: isOn } })}
        />
      </div>
      <section className={styles.section}>
        <h2>Verify a delivery</h2>
        <p className={styles.note}>
          Check <code>webhook-signature</code> against the raw request body. Use any Standard Webhooks library, or ours:
        </p>
        <CodeBlock text={example} label="verification example" />
      </section>
    </ResourceList>
  )
}
