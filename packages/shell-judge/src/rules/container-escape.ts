/** Leaving a container, or controlling its engine. */
import { categoryOf } from './rule.ts';

export const containerEscape = categoryOf('container_escape', [
  {
    deny: 'talks to the container engine’s socket',
    argument: /(?:docker|containerd|podman|crio|cri-dockerd|buildkitd)[\w-]*\.sock(?:et)?(?![\w-]|\.\w)/,
  },
  { deny: 'talks to a socket', programs: 'curl', names: 'unix-socket abstract-unix-socket' },
  { deny: 'talks to a socket', programs: 'socat nc ncat', argument: /^unix(?:-connect)?:|\.sock$/i },
  {
    deny: 'starts a container with rights on the host',
    programs: 'docker podman nerdctl',
    line: /--privileged|--pid[= ]host|--net(?:work)?[= ]host|--ipc[= ]host|--userns[= ]host|--cap-add|--device[= ]|--security-opt|(?:-v|--volume)[= ]?\s*\/[^:]*:|--mount[= ].*(?:source|src)=\//,
  },
  { deny: 'talks to the container engine', programs: 'ctr crictl runc crun' },
  {
    deny: 'mounts a file system',
    programs: 'losetup pivot_root fusermount sshfs bindfs',
    when: (command) => command.words.length > 1,
  },
  {
    deny: 'reaches the host through the kernel',
    path: /^\/proc\/(?:\d+|self)\/(?:root|cwd|fd|mem|ns)\b|^\/proc\/sys\/(?:kernel|fs|net)\/|^\/sys\/(?:fs|kernel|class|devices)\b|release_agent|core_pattern|^\/dev\/(?:mem|kmem|kmsg)$/,
  },
  { deny: 'changes the kernel', programs: 'insmod modprobe rmmod sysctl' },
]);
