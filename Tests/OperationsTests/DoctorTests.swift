import AppStoreVerification
import Base
import Foundation
import Postgres
import Testing

@testable import Operations

@Suite("What the doctor says of clocks and settings")
struct DoctorTests {
    @Test("allows for the time that the question took: only what is certain counts")
    func clocks() {
        func difference(_ before: Double, _ after: Double, _ there: Double) -> ClockDifference {
            ClockDifference(before: .seconds(before), after: .seconds(after), there: .seconds(there))
        }
        #expect(difference(100, 104, 102).certain == .zero)
        #expect(difference(100, 104, 90).certain == .seconds(10))
        #expect(difference(100, 104, 90).text == "12.000 s ahead of")
        #expect(difference(100, 100, 103.25).certain == .milliseconds(3250))
        #expect(difference(100, 100, 103.25).text == "3.250 s behind")
        // A clock that was set back meanwhile.
        #expect(difference(104, 100, 102).certain == .zero)
    }

    private func findings(
        _ faults: [String] = [], apps: [String: Int64?]? = ["com.example.app": 1],
        roots: Set<Fingerprint> = [.appleRootG3], certificate: ConfigurationChecks.Certificate = .none,
        proxies: String? = "none", policy: ConfigurationChecks.Policy = .none, role: DatabaseRole? = nil
    ) -> [String: Finding.Status] {
        let trust = apps.map { VerifierConfiguration(apps: $0, trustedRoots: roots) }
        let findings = ConfigurationChecks(
            faults: faults, trust: trust, certificate: certificate, proxies: proxies, policy: policy, role: role
        ).findings()
        return Dictionary(findings.map { ($0.check, $0.status) }) { first, _ in first }
    }

    @Test("finds nothing to do where everything is set, and each thing that is not")
    func settings() {
        #expect(
            findings() == [
                "configuration": .ok, "apps": .ok, "roots": .ok, "certificate": .skipped, "proxies": .ok,
                "consumption policy": .skipped, "setting names": .ok, "sandbox": .skipped,
            ])
        #expect(findings(["x"], proxies: nil)["proxies"] == .skipped)
        #expect(findings(["DATABASE_URL is not set"], apps: nil)["configuration"] == .failed)
        #expect(findings(["x"], apps: nil)["apps"] == .skipped)
        #expect(findings(apps: [:])["apps"] == .failed)
        #expect(findings(apps: [:], role: .receiver)["apps"] == .skipped)
        // Production names apps by a number as well.
        #expect(findings(apps: ["com.example.app": nil])["apps"] == .failed)
        #expect(findings(roots: [])["roots"] == .failed)
        #expect(findings(roots: [.appleRootG3, Fingerprint(of: [1])])["roots"] == .failed)
        func policy(_ apps: [String], _ role: DatabaseRole? = nil) -> Finding.Status? {
            findings(policy: .usable(rules: 2, withoutKey: apps), role: role)["consumption policy"]
        }
        #expect(policy([]) == .ok && policy(["a"]) == .failed && policy(["a"], .receiver) == .skipped)
        let overruling = ConfigurationChecks.Policy.usable(rules: 2, withoutKey: [], overrules: true)
        #expect(findings(policy: overruling)["consumption policy"] == .failed)
        let soon = Date(timeIntervalSinceNow: 86_400)
        #expect(findings(certificate: .usable(file: "x", expires: soon))["certificate"] == .failed)
        #expect(findings(certificate: .usable(file: "x", expires: .distantFuture))["certificate"] == .ok)
        #expect(findings(certificate: .unusable("no key"))["certificate"] == .failed)
    }
}
