import { type ReactNode, useState } from 'react'
import { type Change, useChange } from '../../forms/use-change.ts'
import { Stack } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'

type DeleteByNameProps = Omit<Change<void, void>, 'onError' | 'isSignIn'> & {
  isOpen: boolean
  onClose(): void
  what: 'workspace' | 'organization'
  name: string
  description: string
}

/** Asks the user to type the name before a workspace or organization is deleted. */
export function DeleteByName(props: DeleteByNameProps): ReactNode {
  const { isOpen, onClose, description, what, name, ...change } = props
  const [typed, setTyped] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const remove = useChange<void>({ ...change, onError: () => {} }) // the dialog shows it
  const close = () => {
    remove.reset()
    onClose()
  }
  const confirm = () => {
    if (typed.trim() === name) remove.mutate()
    else setIsWrong(true)
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={close}
      description={description}
      title={`Delete ${name}?`}
      action={`Delete ${what}`}
      isDangerous
      isPending={remove.isPending}
      onConfirm={confirm}
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          confirm()
        }}
      >
        <Stack>
          <Field
            label={`Type the name of the ${what} to confirm`}
            hint={<strong>{name}</strong>}
            error={isWrong && typed.trim() !== name ? 'The name does not match.' : undefined}
          >
            <TextInput value={typed} autoComplete="off" onChange={event => setTyped(event.target.value)} />
          </Field>
          {remove.error && <Problem error={remove.error} />}
        </Stack>
      </form>
    </ConfirmDialog>
  )
}
