/** The keys of the page, in a dialog. */
import { useSignal } from '@preact/signals';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { shortcuts, useShortcut } from './shortcuts.ts';

export function Help() {
  const isOpen = useSignal(false);
  const show = (open: boolean) => () => {
    isOpen.value = open;
  };
  useShortcut('?', 'Show the keys', show(true));
  return (
    <>
      <Button class="quiet for-keys" title="Keys (?)" aria-label="Keyboard help" onClick={show(true)}>
        <Icon name="keyboard" />
      </Button>
      {isOpen.value && (
        <Dialog title="Keys" close={show(false)} isRead>
          <dl>
            {shortcuts.value.map(({ keys, label }) => (
              <div key={keys}>
                <dt>
                  {keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
}
