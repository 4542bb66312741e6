import type { Action } from '@belfry/domain/permissions'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { ConfirmChange, type ConfirmChangeProps } from '../forms/confirm-change.tsx'
import { type Change, useChange } from '../forms/use-change.ts'
import { Refusal } from '../session/allowed.tsx'
import { Button, type ButtonProps, IconButton } from '../ui/button.tsx'
import { Switch } from '../ui/checkbox.tsx'
import { Dialog, type DialogProps } from '../ui/dialog.tsx'

export type Look = Pick<ButtonProps, 'kind' | 'size' | 'isWide' | 'refusal'> & {
  /** The action that the user must be allowed to perform. */
  right?: Action | undefined
  /** Default: the button shows only its icon. */
  text?: string
  /** The accessible name. Default: the text. */
  label?: string
  icon?: ReactNode
}

export function ChangeButton<Result>(props: Look & Omit<Change<Result, void>, 'onError'>) {
  const { run, leaves, done, onDone, isSignIn, ...look } = props
  const { mutate, isPending } = useChange<Result>({ run, leaves, done, onDone, isSignIn })
  return <Trigger {...look} isPending={isPending} onClick={() => mutate()} />
}

type ChangeSwitchProps = Omit<ComponentProps<typeof Switch>, 'onChange' | 'isOn'> & { isOn: boolean } & Pick<
    Change<unknown, boolean>,
    'run' | 'done'
  >

/** A switch. Shows the new state immediately, and the old one again after an error. */
export function ChangeSwitch({ run, done, isOn, ...props }: ChangeSwitchProps) {
  const { mutate, isPending, variables } = useChange({ run, done })
  return <Switch {...props} isOn={isPending ? variables : isOn} onChange={mutate} />
}

/** A button that makes a change after a confirmation. The question is its label by default. */
export function ConfirmButton<Result>(
  props: Look & Omit<ConfirmChangeProps<Result>, 'isOpen' | 'onClose' | 'title'> & { title?: string },
) {
  const { text, label = text, icon, kind, size, isWide, right, refusal, title = `${label}?`, ...change } = props
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Trigger {...{ text, label, icon, kind, size, isWide, right, refusal }} onClick={() => setIsOpen(true)} />
      <ConfirmChange {...change} title={title} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

/** A button that opens a dialog. The title is its label by default. */
export function DialogButton(
  props: Look & Omit<DialogProps, 'isOpen' | 'onClose' | 'title'> & Partial<Pick<DialogProps, 'title'>>,
) {
  const { text, label = text, icon, kind, size, isWide, right, refusal, title = label, ...dialog } = props
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Trigger {...{ text, label, icon, kind, size, right, refusal }} onClick={() => setIsOpen(true)} />
      <Dialog {...dialog} title={title} isWide={isWide} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

type TriggerProps = { [Key in keyof Look]?: Look[Key] | undefined } & Pick<ButtonProps, 'isPending' | 'onClick'>

function Trigger({ text, label = text ?? '', icon, right, refusal, ...button }: TriggerProps) {
  return (
    <Refusal of={right}>
      {mayNot =>
        text === undefined ? (
          <IconButton {...button} refusal={mayNot ?? refusal} label={label} icon={icon} />
        ) : (
          <Button {...button} refusal={mayNot ?? refusal} icon={icon} aria-label={label === text ? undefined : label}>
            {text}
          </Button>
        )
      }
    </Refusal>
  )
}
