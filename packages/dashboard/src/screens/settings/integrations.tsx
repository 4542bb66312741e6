import type { CreateIntegrationBody, Integration, IntegrationTest } from '@belfry/contract/integration'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { BellRing, Pencil, Send, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import {
  createIntegration,
  deleteIntegration,
  integrationsQuery,
  testIntegration,
  updateIntegration,
} from '../../api/workspace-settings.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { ConfirmButton, DialogButton } from '../../layout/row-buttons.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, optionsOf, Select, TextInput } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './settings.module.css'

export function Integrations(): ReactNode {
  const { workspace } = useWorkspace()
  const list = useInfiniteQuery(integrationsQuery(workspace.id))
  const writeRefusal = useRefusal('integration.write')
  const deleteRefusal = useRefusal('integration.delete')
  return (
    <ResourceList
      title="Integrations"
      description="Get notified about dead tasks, failing cron jobs and quotas. Bursts are grouped into one message."
      list={list}
      rows={list.data?.items}
      rowKey={({ id }) => id}
      create={{
        label: 'New integration',
        refusal: writeRefusal,
        form: close => <IntegrationForm integration={null} onDone={close} />,
      }}
      empty={{
        icon: BellRing,
        title: 'No integrations yet',
        children:
          'Add a Slack or Discord channel, an email address or a webhook to hear about dead tasks before your customers do.',
      }}
      columns={[
        {
          id: 'name',
          header: 'Name',
          cell: ({ name, channel, target, confirmed }) => (
            <div className={styles.twoLines}>
              {name}
              <span>
                {channelNames[channel]}, {target} {!confirmed && <Badge tone="warn">Waiting for confirmation</Badge>}
              </span>
            </div>
          ),
        },
        {
          id: 'events',
          header: 'Events',
          isExtra: true,
          cell: ({ events }) => (
            <div className={styles.badges}>
              {events.map(event => (
                <Badge key={event}>{eventNames[event]}</Badge>
              ))}
            </div>
          ),
        },
      ]}
      actions={integration => (
        <>
          <TestButton integration={integration} />
          <DialogButton
            label={`Edit ${integration.name}`}
            icon={<Pencil size={16} />}
            title={`Edit ${integration.name}`}
            refusal={writeRefusal}
            form={close => <IntegrationForm integration={integration} onDone={close} />}
          />
          <ConfirmButton
            label={`Delete ${integration.name}`}
            icon={<Trash2 size={16} />}
            description="It no longer receives alerts."
            action="Delete integration"
            refusal={deleteRefusal}
            run={() => deleteIntegration(workspace.id, integration.id)}
            affects={[['integrations', workspace.id]]}
            done={`${integration.name} deleted`}
          />
        </>
      )}
    />
  )
}

function TestButton({ integration }: { integration: Integration }): ReactNode {
  const { workspace } = useWorkspace()
  const toast = useToast()
  const test = useMutation({
    mutationFn: () => testIntegration(workspace.id, integration.id),
    onSuccess: result => toast(resultText(integration, result), result.delivered ? 'good' : 'bad'),
    onError: error => toast(messageOf(error), 'bad'),
  })
  return (
    <Button
      size="small"
      icon={<Send size={14} />}
      aria-label={`Send a test to ${integration.name}`}
      refusal={useRefusal('integration.write')}
      isPending={test.isPending}
      onClick={() => test.mutate()}
    >
      Test
    </Button>
  )
}

function resultText({ name }: Integration, { delivered, error }: IntegrationTest): string {
  return delivered ? `Test delivered to ${name}` : `The test could not be delivered to ${name}: ${error}`
}

type Channel = Integration['channel']
type AlertEvent = Integration['events'][number]

const channelNames: Record<Channel, string> = {
  slack: 'Slack',
  discord: 'Discord',
  email: 'Email',
  webhook: 'Webhook',
}

const eventNames: Record<AlertEvent, string> = {
  'task.dead': 'Dead task',
  'cronjob.failing': 'Failing cron job',
  'cronjob.recovered': 'Recovered cron job',
  'endpoint.failing': 'Failing for days',
  'endpoint.switched_off': 'Switched off',
  'quota.warning': 'Quota at 80%',
  'quota.reached': 'Quota reached',
}

const events = Object.keys(eventNames) as AlertEvent[] // its own keys
const hints: Record<Exclude<Channel, 'email'>, string> = {
  slack: 'The incoming webhook of your Slack app: https://hooks.slack.com/services/…',
  discord: 'The webhook of the channel: https://discord.com/api/webhooks/…',
  webhook: 'Receives each alert as JSON, signed like every delivery.',
}

type IntegrationFormProps = {
  /** The integration to edit; null creates one. */
  integration: Integration | null
  onDone(): void
}

function IntegrationForm({ integration, onDone }: IntegrationFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const [channel, setChannel] = useState<Channel>(integration?.channel ?? 'slack')
  const form = useForm({
    read: field => ({
      name: field('name').trim(),
      events: events.filter(event => field(event) !== ''),
      target: field(channel === 'email' ? 'email' : 'url').trim(),
    }),
    check: body => ({
      ...(body.name === '' ? { name: 'Enter a name.' } : {}),
      ...(body.target === '' && !integration ? targetError(channel) : {}),
      ...(body.events.length === 0 ? { events: 'Select at least one event.' } : {}),
    }),
    submit({ name, events, target }) {
      const where = channel === 'email' ? { email: target } : { url: target }
      if (!integration) {
        // The types cannot express that the channel decides the kind of target.
        return createIntegration(workspace.id, { channel, name, events, ...where } as CreateIntegrationBody)
      }
      return updateIntegration(workspace.id, integration.id, { name, events, ...(target === '' ? {} : where) })
    },
    onDone,
    done: ({ name }) => (integration ? `${name} updated` : `${name} created. Send a test to check it.`),
    affects: [['integrations', workspace.id]],
  })
  const keeps = integration ? ` Leave empty to keep ${integration.target}.` : ''
  return (
    <Form
      form={form}
      action={integration ? 'Save' : 'Create integration'}
      more={<Button onClick={onDone}>Cancel</Button>}
    >
      {!integration && (
        <Field label="Channel">
          <Select
            value={channel}
            onChange={event => setChannel(event.target.value as Channel)} // one of the options
            options={optionsOf(channelNames)}
          />
        </Field>
      )}
      <Field label="Name" error={form.errors.name}>
        <TextInput name="name" defaultValue={integration?.name} placeholder="On call" autoComplete="off" />
      </Field>
      {channel === 'email' ? (
        <Field label="Email address" hint={keeps} error={form.errors.email}>
          <TextInput name="email" type="email" autoComplete="off" />
        </Field>
      ) : (
        <Field
          label="URL"
          hint={`${hints[channel]} It is stored encrypted and not shown again.${keeps}`}
          error={form.errors.url}
        >
          <TextInput name="url" type="url" isMono autoComplete="off" />
        </Field>
      )}
      <fieldset className={styles.fieldset}>
        <legend>Events</legend>
        {events.map(event => (
          <Checkbox
            key={event}
            name={event}
            label={eventNames[event]}
            isInitiallyOn={integration ? integration.events.includes(event) : event === 'task.dead'}
          />
        ))}
      </fieldset>
    </Form>
  )
}

function targetError(channel: Channel): Record<string, string> {
  return channel === 'email' ? { email: 'Enter an email address.' } : { url: 'Enter the URL.' }
}
