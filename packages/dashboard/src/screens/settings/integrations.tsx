import type { Integration, IntegrationTest } from '@belfry/contract/integration'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { BellRing, Pencil, Send, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { deleteIntegration, integrationsQuery, testIntegration } from '../../api/integrations.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { ConfirmButton, DialogButton } from '../../layout/row-buttons.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { useToast } from '../../ui/toast.tsx'
import { channelNames, eventNames, IntegrationForm } from './integration-form.tsx'
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
