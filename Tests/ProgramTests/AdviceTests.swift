import Base
import Foundation
import TestSupport
import Testing

@Suite("Errors of the program")
struct AdviceTests {
    @Test("of a database that is not reached, or that refuses, have the next step, once")
    func unreached() async throws {
        try await withSite { site in
            let port = try freePort()
            let advice = "; is the server running, and is DATABASE_URL right?"
            let own = site.database.url + (site.database.url.contains("://") ? "&" : " ")
            for (url, words) in [
                ("postgresql://me@127.0.0.1:\(port)/storehook", advice),
                (
                    own + "dbname=not_there_at_all",
                    "make it with createdb not_there_at_all, or correct the name in DATABASE_URL"
                ),
                (own + "user=nobody_here", "make the user with sql/roles.sql and deploy/logins.sql"),
                (own + "sslmode=odd", "; correct DATABASE_URL"),
            ] {
                for command in ["queue", "migrate"] {
                    let outcome = try await site.run(command, with: ["DATABASE_URL": url])
                    #expect(outcome.ending == .exited(1) && outcome.errorLines == 1, "\(outcome)")
                    #expect(outcome.errors.contains(words), "\(outcome)")
                    #expect(outcome.errors.contains(advice) == (words == advice), "\(outcome)")
                }
                let doctor = try await site.run(
                    "doctor", "--port", "1", "--format", "table", with: ["DATABASE_URL": url])
                let line = doctor.output.split(separator: "\n").first { $0.contains(" database ") } ?? ""
                #expect(line.hasPrefix("TO DO") && line.contains(words), "\(doctor.output)")
            }
            let file = try await site.run("queue", "--config", "/no/such/file")
            #expect(
                file.errors
                    == "storehook: cannot read the configuration file /no/such/file: No such file or directory: correct the path, or make the file\n"
            )
            // Tests may run as root, who may read everything.
            #expect(PlainFile.reason(EACCES, "/x").hasPrefix("Permission denied to user "))
        }
    }

    @Test(
        "of a root that is given as a file say how its fingerprint is made; of a file that cannot be read, why, and what to do"
    )
    func files() async throws {
        try await withSite { site in
            for file in ["/etc/root.pem", "root.cer", "Xcode:root.pem", String(repeating: "ab", count: 31)] {
                let outcome = try await site.run("work", with: ["STOREHOOK_TRUSTED_ROOTS": file])
                #expect(outcome.ending == .exited(2) && outcome.errorLines == 1, "\(outcome)")
                #expect(outcome.errors.contains("openssl x509 -in root.pem -noout -fingerprint -sha256"), "\(outcome)")
            }
            for (path, words) in [
                ("nowhere.jws", "No such file or directory; it was sought from /"),
                ("/nowhere.jws", "correct the path"),
                ("/tmp", "it is a directory; name a file in it"),
            ] {
                for command in [["verify", path], ["catalog", "check", path], ["queue", "--config", path]] {
                    let program = try site.start(command)
                    #expect(await program.end() == .exited(2), "\(command): \(program.errors)")
                    #expect(
                        program.errors.split(separator: "\n").count == 1 && program.errors.contains(words),
                        "\(program.errors)")
                    await program.discard()
                }
            }
        }
    }
}
