import AppleSync
import Base
import Configuration
import EventStore
import Events
import HTTPKit
import NIOSSL
import Webhooks

extension Settings {
    /// `STOREHOOK_SECRET_KEY_FILE`: what webhook secrets are encrypted with; nil where it is not set.
    func secretKey() throws -> SecretKey? {
        guard let file = try text("storehook.secret.key.file") else { return nil }
        let bytes: [UInt8]
        do throws(SecretFile.Fault) {
            bytes = try SecretFile.bytes(file)
        } catch {
            throw CommandFailure("STOREHOOK_SECRET_KEY_FILE: \(error.description)", status: .usage)
        }
        guard let key = SecretKey(file: bytes) else {
            throw CommandFailure(
                "STOREHOOK_SECRET_KEY_FILE: \(file) must hold 32 bytes, or their 64 hexadecimal digits; type: "
                    + "openssl rand -hex 32 > FILE && chmod 600 FILE", status: .usage)
        }
        return key
    }

    /// The same for a program that does all else without: no key, and why, where the file cannot be used. A path that would be misread is
    /// refused as any setting is.
    func secretKeyIfUsable() throws -> (key: SecretKey?, fault: String?) {
        guard try text("storehook.secret.key.file") != nil else { return (nil, nil) }
        do {
            return (try secretKey(), nil)
        } catch let failure as CommandFailure {
            return (nil, failure.message)
        }
    }

    /// The same, where nothing can be done without.
    func requiredSecretKey() throws -> SecretKey {
        guard let key = try secretKey() else {
            throw missing(
                "STOREHOOK_SECRET_KEY_FILE is not set: endpoints' secrets are kept encrypted with it; type: "
                    + "openssl rand -hex 32 > FILE && chmod 600 FILE, and give the same file to all workers")
        }
        return key
    }

    /// `STOREHOOK_ENDPOINT_HTTP`, `STOREHOOK_ENDPOINT_NETWORKS`: the URLs and addresses that events may be posted to,
    /// in addition to https and public ones.
    func endpointPolicy() throws -> AddressPolicy {
        var policy = AddressPolicy()
        switch try text("storehook.endpoint.http") ?? "off" {
        case "on": policy.allowsHTTP = true
        case "off": break
        default: throw CommandFailure("STOREHOOK_ENDPOINT_HTTP must be on or off", status: .usage)
        }
        policy.allowedNetworks = try (list("storehook.endpoint.networks") ?? []).map { text in
            guard let block = AddressBlock(around: text) else {
                throw CommandFailure(
                    "STOREHOOK_ENDPOINT_NETWORKS: write addresses or blocks of them, comma-separated: 10.0.0.0/8,127.0.0.1",
                    status: .usage)
            }
            return block
        }
        return policy
    }

    /// `STOREHOOK_ENDPOINT_CERTIFICATES`: a PEM file of certificates that endpoints' are trusted by, beside the system's.
    func endpointRoots() throws -> [NIOSSLCertificate] {
        guard let file = try text("storehook.endpoint.certificates") else { return [] }
        let fault: String
        do throws(PlainFile.Fault) {
            let bytes = try PlainFile(file, upTo: 1 << 20).bytes
            if let roots = try? NIOSSLCertificate.fromPEMBytes(bytes), !roots.isEmpty { return roots }
            fault = "holds no certificate in PEM; of one in DER this makes it: openssl x509 -inform der -in FILE"
        } catch {
            fault = error.predicate
        }
        throw CommandFailure("STOREHOOK_ENDPOINT_CERTIFICATES: \(file) \(fault)", status: .usage)
    }

    /// Calls endpoints by these settings, while `body` lasts.
    func withEndpointCaller<T>(_ body: (EndpointCaller, SystemResolver) async throws -> T) async throws -> T {
        let resolver = SystemResolver()
        let caller = EndpointCaller(try endpointPolicy(), resolver: resolver, roots: try endpointRoots())
        do {
            let value = try await body(caller, resolver)
            await caller.shutdown()
            await resolver.shutdown()
            return value
        } catch {
            await caller.shutdown()
            await resolver.shutdown()
            throw error
        }
    }
}
