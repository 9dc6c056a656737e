/** Scanning, tunnels and logging in elsewhere (REFERENCE §3). */
import type { Category } from './rule.ts';

export const networkRecon: Category = {
  category: 'network_recon',
  rules: [
    {
      rule: 'network_recon',
      reason: 'scans networks',
      programs: [
        'nmap',
        'masscan',
        'zmap',
        'rustscan',
        'hping',
        'hping3',
        'arp-scan',
        'netdiscover',
        'fping',
        'nikto',
        'gobuster',
        'ffuf',
        'sqlmap',
        'hydra',
        'medusa',
        'responder',
        'crackmapexec',
        'enum4linux',
        'dirb',
      ],
    },
    {
      rule: 'network_recon',
      reason: 'reads the network’s traffic',
      programs: ['tcpdump', 'tshark', 'wireshark', 'ettercap', 'bettercap', 'dsniff', 'ngrep'],
    },
    {
      rule: 'network_recon',
      reason: 'opens a tunnel',
      programs: [
        'ngrok',
        'cloudflared',
        'frp',
        'frpc',
        'frps',
        'chisel',
        'localtunnel',
        'lt',
        'bore',
        'rathole',
        'inlets',
        'tailscale',
        'pagekite',
      ],
    },
    {
      rule: 'network_recon',
      reason: 'logs in to another machine',
      programs: ['ssh', 'mosh', 'sshpass', 'autossh', 'telnet', 'rsh', 'rlogin'],
    },
  ],
};
