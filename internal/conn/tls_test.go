package conn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// authority signs certificates that last as long as a test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.sign(t, "ca", "authority", true)
	return a
}

// sign writes NAME.crt and NAME.key; the first certificate signs itself.
func (a *authority) sign(t *testing.T, file, name string, isCA bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.next++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: isCA, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, file+".crt", "CERTIFICATE", der)
	a.write(t, file+".key", "PRIVATE KEY", keyDER)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func (a *authority) write(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(a.path(file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *authority) path(file string) string { return filepath.Join(a.dir, file) }

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	a.sign(t, "server", "redis.internal", false)
	a.sign(t, "client", "operator", false)
	port := redistest.FreePort(t)
	redistest.Start(t, "--tls-port", fmt.Sprint(port), "--tls-ca-cert-file", a.path("ca.crt"),
		"--tls-cert-file", a.path("server.crt"), "--tls-key-file", a.path("server.key"), "--tls-auth-clients", "yes")
	good := Config{
		URL: fmt.Sprintf("rediss://127.0.0.1:%d", port), TLSCA: a.path("ca.crt"), TLSSNI: "redis.internal",
		TLSCert: a.path("client.crt"), TLSKey: a.path("client.key"),
	}
	with := func(change func(*Config)) Config { c := good; change(&c); return c }
	for _, c := range []struct {
		name    string
		config  Config
		answers bool
	}{
		{"all right", good, true},
		{"by a flag", with(func(c *Config) { c.TLS, c.URL = true, fmt.Sprintf("127.0.0.1:%d", port) }), true},
		{"unverified", with(func(c *Config) { c.TLSCA, c.TLSInsecure = "", true }), true},
		{"unknown authority", with(func(c *Config) { c.TLSCA = "" }), false},
		{"another name", with(func(c *Config) { c.TLSSNI = "other" }), false},
		{"the address for a name", with(func(c *Config) { c.TLSSNI = "" }), false},
		{"no certificate of our own", with(func(c *Config) { c.TLSCert, c.TLSKey = "", "" }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := ping(t, c.config); (err == nil) != c.answers {
				t.Errorf("answers %t, want %t: %v", err == nil, c.answers, err)
			}
		})
	}
}

// ping resolves the config and asks the server for its clock.
func ping(t *testing.T, c Config) error {
	t.Helper()
	admin, closeAdmin, err := resolve(t, c, withEnv(nil)).Admin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closeAdmin(); err != nil {
			t.Error(err)
		}
	}()
	_, err = admin.Server(context.Background())
	return err
}
