import type { CreateIntegrationBody, Integration } from '@belfry/contract/integration'
import { alertChannels } from '@belfry/domain/alerts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { BellRing, Send } from 'lucide-react'
import { useState } from 'react'
import { call, read } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import styles from './settings.module.css'

export function Integrations() {
  const { workspace } = useWorkspace()
  const toast = useToast()
  return (
    <ResourceList
      title="Integrations"
      description="Get notified about dead tasks, failing cron jobs and quotas. Bursts are grouped into one message."
      list={useInfiniteQuery(pagesOf('listIntegrations', { ws: workspace.id }))}
      create={{ label: 'New integration', right: 'integration.write' }}
      form={integration => <IntegrationForm integration={integration} />}
      empty={{
        icon: BellRing,
        title: 'No integrations yet',
        children:
          'Add a Slack or Discord channel, an email address or a webhook to hear about dead tasks before your customers do.',
      }}
      columns={[
        {
          header: 'Name',
          cell: ({ name, channel, target, confirmed }) => (
            <div className={styles.twoLines}>
              {name}
              <span>
                {wordsOf(channel)}, {target} {!confirmed && <Badge tone="warn">Waiting for confirmation</Badge>}
              </span>
            </div>
          ),
        },
        {
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
      actions={({ id, name }) => (
        <ChangeButton
          size="small"
          icon={<Send size={14} />}
          text="Test"
          label={`Send a test to ${name}`}
          right="integration.write"
          run={() => read('testIntegration', { ws: workspace.id, int: id })}
          onDone={({ delivered, error }) =>
            delivered
              ? toast(`Test delivered to ${name}`, 'good')
              : toast(`The test could not be delivered to ${name}: ${error}`, 'bad')
          }
        />
      )}
      nameOf={({ name }) => name}
      edit={{ right: 'integration.write' }}
      remove={{
        what: 'integration',
        description: 'It no longer receives alerts.',
        right: 'integration.delete',
        run: ({ id }) => call('deleteIntegration', { ws: workspace.id, int: id }),
      }}
    />
  )
}

type Channel = Integration['channel']
type AlertEvent = Integration['events'][number]

const eventNames: Record<AlertEvent, string> = {
  'task.dead': 'Dead task',
  'cronjob.failing': 'Failing cron job',
  'cronjob.recovered': 'Recovered cron job',
  'host.failing': 'Failing host',
  'host.recovered': 'Recovered host',
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

function IntegrationForm({ integration }: { integration: Integration | null }) {
  const { workspace } = useWorkspace()
  const [channel, setChannel] = useState<Channel>(integration?.channel ?? 'slack')
  const keeps = integration ? ` Leave empty to keep ${integration.target}.` : ''
  return (
    <Form
      read={field => ({
        name: field('name').trim(),
        events: events.filter(event => field(event) !== ''),
        target: field(channel === 'email' ? 'email' : 'url').trim(),
      })}
      check={({ name, target, events }) => {
        const isMissing = target === '' && !integration
        return {
          name: name === '' && 'Enter a name.',
          email: isMissing && channel === 'email' && 'Enter an email address.',
          url: isMissing && channel !== 'email' && 'Enter the URL.',
          events: events.length === 0 && 'Select at least one event.',
        }
      }}
      submit={({ name, events, target }) => {
        const where = channel === 'email' ? { email: target } : { url: target }
        if (!integration) {
          // The types cannot express that the channel decides the kind of target.
          const body = { channel, name, events, ...where } as CreateIntegrationBody
          return call('createIntegration', { ws: workspace.id, body })
        }
        const body = { name, events, ...(target === '' ? {} : where) }
        return call('updateIntegration', { ws: workspace.id, int: integration.id, body })
      }}
      done={({ name }) => (integration ? `${name} updated` : `${name} created. Send a test to check it.`)}
      action={integration ? 'Save' : 'Create integration'}
    >
      {!integration && (
        <SelectField
          label="Channel"
          value={channel}
          onChange={event => setChannel(event.target.value as Channel)}
          options={alertChannels.map(value => ({ value, label: wordsOf(value) }))}
        />
      )}
      <TextField label="Name" name="name" defaultValue={integration?.name} placeholder="On call" />
      {channel === 'email' ? (
        <TextField label="Email address" hint={keeps} name="email" type="email" />
      ) : (
        <TextField
          label="URL"
          hint={`${hints[channel]} It is stored encrypted and not shown again.${keeps}`}
          name="url"
          type="url"
          isMono
        />
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
