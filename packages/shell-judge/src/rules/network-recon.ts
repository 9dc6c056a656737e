/** Scanning, tunnels and remote logins. */
import { categoryOf, isAboutItself, ON_ANOTHER_MACHINE } from './rule.ts';

export const networkRecon = categoryOf('network_recon', [
  {
    deny: 'scans networks',
    programs:
      'nmap masscan zmap rustscan hping hping3 arp-scan netdiscover fping nikto gobuster ffuf sqlmap hydra ' +
      'medusa responder crackmapexec enum4linux dirb',
  },
  {
    deny: 'reads the network’s traffic',
    programs: 'tcpdump tshark wireshark ettercap bettercap dsniff ngrep',
  },
  {
    deny: 'opens a tunnel',
    programs: 'ngrok cloudflared frp frpc frps chisel localtunnel lt bore rathole inlets tailscale pagekite',
  },
  { deny: 'logs in to another machine', programs: 'ssh mosh sshpass autossh rsh rlogin' },
  {
    rule: 'sends_files',
    deny: 'copies files to another machine',
    isForAuthors: true,
    programs: 'scp',
    argument: ON_ANOTHER_MACHINE,
  },
  {
    rule: 'sends_files',
    deny: 'copies files to another machine',
    isForAuthors: true,
    programs: 'sftp',
    when: (command) => !isAboutItself(command),
  },
]);
