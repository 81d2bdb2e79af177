import Foundation
import TestSupport

/// An nginx of the test's own that runs shipped files of `deploy/nginx`: ports, upstreams, certificates and log files are replaced, and
/// nothing else.
struct NginxServer: Sendable {
    /// Where the programs behind it listen.
    struct Upstreams: Sendable {
        var receiver: Int
        var api: Int
        /// What only some customers may see.
        var application: Int
    }

    let port: Int

    /// Runs one while `body` lasts.
    /// - Parameter files: names of files in `deploy/nginx`.
    static func with<T>(
        _ files: [String], before upstreams: Upstreams, _ body: (NginxServer) async throws -> T
    ) async throws -> T {
        try await withTemporaryDirectory { directory in
            try await CertificateFiles.with(try ServerCertificate()) { certificate in
                let server = NginxServer(port: try freePort())
                let configuration = directory + "/nginx.conf"
                let sites = try files.map { try server.site($0, upstreams, certificate, logs: directory) }
                try server.main(sites, in: directory).write(toFile: configuration, atomically: true, encoding: .utf8)
                let program = try ChildProgram(
                    "/usr/sbin/nginx", ["-p", directory, "-c", configuration, "-e", directory + "/start.log"],
                    environment: ["PATH": "/usr/bin:/bin"])
                do {
                    try await server.untilReady(program, log: directory + "/start.log")
                    let value = try await body(server)
                    await program.discard()
                    return value
                } catch {
                    print("what nginx said before the test failed:\n\(program.errors)")
                    await program.discard()
                    throw error
                }
            }
        }
    }

    /// Asks as a client of this host does.
    /// - Parameter body: posted as JSON where there is one.
    func ask(
        _ method: String, _ path: String, of host: String, token: String? = nil, body: String? = nil
    ) async throws -> Curl.Answer {
        var arguments = [
            "-sS", "--insecure", "--max-time", "120", "-w", "\\n%{http_code}", "-X", method, "--connect-to",
            "\(host):443:127.0.0.1:\(port)",
        ]
        if let token { arguments += ["-H", "Authorization: Bearer \(token)"] }
        if body != nil { arguments += ["-H", "Content-Type: application/json", "--data-binary", "@-"] }
        return try await Curl.run(arguments + ["https://\(host)\(path)"], input: body ?? "")
    }

    private func site(
        _ name: String, _ upstreams: Upstreams, _ certificate: CertificateFiles, logs: String
    ) throws -> String {
        let shipped = packageRoot.appending(path: "deploy/nginx/\(name)")
        return try String(contentsOf: shipped, encoding: .utf8)
            .replacing("listen 443", with: "listen 127.0.0.1:\(port)")
            .replacing("listen [::]:443", with: "listen [::1]:\(port)")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(upstreams.receiver)")
            .replacing("127.0.0.1:8081", with: "127.0.0.1:\(upstreams.api)")
            .replacing("127.0.0.1:3000", with: "127.0.0.1:\(upstreams.application)")
            .replacing("/etc/ssl/storehook/fullchain.pem", with: certificate.certificateFile)
            .replacing("/etc/ssl/storehook/privkey.pem", with: certificate.keyFile)
            .replacing("/var/log/nginx", with: logs)
    }

    private func main(_ sites: [String], in directory: String) -> String {
        let bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(directory)/\($0);" }
        return """
            daemon off;
            master_process off;
            pid \(directory)/nginx.pid;
            error_log stderr notice;
            events { worker_connections 256; }
            http {
            \(bodies.joined(separator: "\n"))
            \(sites.joined(separator: "\n"))
            }
            """
    }

    private func untilReady(_ program: ChildProgram, log: String) async throws {
        try await eventually("nginx listens") {
            if let ending = program.ending {
                let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
                throw NeverHappened("nginx listens; instead: \(ending) \(said) \(program.errors)")
            }
            return (try? await ask("GET", "/", of: "api.example.com").status) == 404
        }
    }
}
