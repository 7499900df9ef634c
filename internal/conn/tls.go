package conn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// applyTLS fills o.TLSConfig from the flags over what a rediss:// URL gave.
func (c Config) applyTLS(o *redis.UniversalOptions) error {
	if c.TLS && o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.TLSConfig == nil {
		if flag := c.firstTLSFlag(); flag != "" {
			return fmt.Errorf("%s needs --tls or a rediss:// URL", flag)
		}
		return nil
	}
	if strings.HasPrefix(o.Addrs[0], "/") {
		return errors.New("--tls does not go with a unix socket")
	}
	config := o.TLSConfig
	if o.IsClusterMode || o.MasterName != "" {
		// Other hosts will be dialled than the URL's: each is verified by the
		// name it was dialled under.
		config.ServerName = ""
	}
	if c.TLSSNI != "" {
		config.ServerName = c.TLSSNI
	}
	config.InsecureSkipVerify = config.InsecureSkipVerify || c.TLSInsecure
	return c.loadCertificates(config)
}

// firstTLSFlag names a flag that means nothing without TLS; "" if none is set.
func (c Config) firstTLSFlag() string {
	switch {
	case c.TLSCA != "":
		return "--tls-ca"
	case c.TLSCert != "":
		return "--tls-cert"
	case c.TLSSNI != "":
		return "--tls-sni"
	case c.TLSInsecure:
		return "--tls-insecure"
	}
	return ""
}

func (c Config) loadCertificates(config *tls.Config) error {
	if c.TLSCA != "" {
		pem, err := os.ReadFile(c.TLSCA)
		if err != nil {
			return fmt.Errorf("--tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("--tls-ca %s: no PEM certificate in it", c.TLSCA)
		}
	}
	if c.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return nil
}
