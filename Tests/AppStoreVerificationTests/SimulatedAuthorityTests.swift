import AppStorePayloads
import Foundation
import Simulation
import Testing

@Suite("SimulatedAuthority")
struct SimulatedAuthorityTests {
    @Test("certificates and header are about as large as Apple's")
    func sizes() throws {
        let authority = try SimulatedAuthority.generate()
        let apple = [1077, 795, 585]
        #expect(authority.chain.count == 3)
        for (certificate, size) in zip(authority.chain, apple) { #expect(abs(certificate.der.count - size) < 12) }
        #expect(abs(authority.headerSegment.count - 4411) < 40)
    }

    @Test("what was saved is read again, and nobody else may read the key")
    func savedAndRead() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("pki-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let saved = try SimulatedAuthority.loadOrGenerate(in: directory)
        let read = try SimulatedAuthority.loadOrGenerate(in: directory)
        #expect(read.rootFingerprint == saved.rootFingerprint)
        #expect(read.headerSegment == saved.headerSegment)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/leaf.key")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == [
                "intermediate.pem", "leaf.key", "leaf.pem", "root.cer", "root.pem",
            ])
    }

    @Test("a directory that was tampered with is refused by the file's name")
    func tamperedDirectory() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("pki-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try SimulatedAuthority.generate().save(to: directory)
        let other = try SimulatedAuthority.generate()
        try Data(other.chain[0].der).write(to: URL(fileURLWithPath: directory + "/leaf.pem"))
        let error = #expect(throws: SimulatedAuthorityError.self) { try SimulatedAuthority.load(from: directory) }
        #expect(error?.message.contains("leaf.pem") == true)
    }
}
