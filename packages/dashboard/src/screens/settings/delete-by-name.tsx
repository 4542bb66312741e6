import type { ReactNode } from 'react'
import { Form } from '../../forms/form.tsx'
import type { Change } from '../../forms/use-change.ts'
import { useForm } from '../../forms/use-form.ts'
import { DialogButton, type Look } from '../../layout/change-buttons.tsx'
import { TextField } from '../../ui/field.tsx'

type Deletion = Pick<Change<void, string>, 'leaves' | 'done' | 'onDone'> & {
  run(): Promise<void>
  what: 'workspace' | 'organization'
  name: string
}

/** A button that deletes a workspace or an organization after the user has typed its name. */
export function DeleteByName(props: Look & Deletion & { description: string }): ReactNode {
  const { what, name, run, leaves, done, onDone, ...button } = props
  return (
    <DialogButton {...button} title={`Delete ${name}?`}>
      <NameForm {...{ what, name, run, leaves, done, onDone }} />
    </DialogButton>
  )
}

function NameForm({ what, name, run, ...change }: Deletion): ReactNode {
  const form = useForm({
    ...change,
    read: field => field('typed').trim(),
    check: typed => ({ typed: typed !== name && 'The name does not match.' }),
    submit: run,
  })
  return (
    <Form form={form} action={`Delete ${what}`} isDangerous>
      <TextField
        label={`Type the name of the ${what} to confirm`}
        hint={<strong>{name}</strong>}
        name="typed"
        autoComplete="off"
      />
    </Form>
  )
}
