import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
package import Simulation
import TestSupport

/// Apple's own Python library as a judge, in one process for as long as a test lasts: see `apple_judge.py`.
package struct AppleLibrary: Sendable {
    /// What it read of a subscription.
    package struct Line: Sendable, Hashable {
        /// The first transaction.
        package var originalTransactionId: String
        /// Apple's status.
        package var status: Int64
        /// The product of the latest transaction.
        package var productId: String
        /// When that begins, in milliseconds since 1970.
        package var purchaseDate: Int64
    }

    private let url: String

    /// Runs it while `body` lasts.
    /// - Parameter shop: where the stand-in answers.
    package static func with<T: Sendable>(
        _ shop: String, _ access: StandInAccess, in directory: String, of app: SimulatedApp,
        isolation: isolated (any Actor)? = #isolation, _ body: (AppleLibrary) async throws -> T
    ) async throws -> T {
        let library = try await pythonPackage("app-store-server-library")
        let given: [String: Any] = [
            "url": shop, "issuerId": access.issuerId, "keyId": access.keyId, "privateKeyFile": access.privateKeyFile,
            "rootFile": directory + "/root.cer", "bundleId": app.bundleId, "appAppleId": app.appAppleId,
        ]
        let argument = String(decoding: try JSONSerialization.data(withJSONObject: given), as: UTF8.self)
        let script = packageRoot.appending(path: "Tests/StandInTests/apple_judge.py").path
        let program = try ChildProgram(
            library + "/bin/python", [script, argument], environment: ProcessInfo.processInfo.environment)
        do {
            try await eventually("Apple's library listens") {
                if program.ending != nil { throw NeverHappened("Apple's library runs: \(program.errors)") }
                return program.output.hasSuffix("\n")
            }
            let port = program.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let value = try await body(AppleLibrary(url: "http://127.0.0.1:\(port)/"))
            await program.discard()
            return value
        } catch {
            let errors = program.errors
            await program.discard()
            if errors.isEmpty { throw error }
            throw NeverHappened("\(error); Apple's library: \(errors.suffix(3000))")
        }
    }

    /// Has the stand-in asked for the subscriptions of customers.
    /// - Parameter transactions: one of each customer's.
    package func lines(of transactions: [String]) async throws -> [[Line]] {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: "[" + transactions.map { "\"\($0)\"" }.joined(separator: ",") + "]"))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = Array(try await response.body.collect(upTo: 8 << 20).readableBytesView)
        guard let list = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any],
            let customers = list["list"] as? [[[String: Any]]]
        else { throw NeverHappened("Apple's library answers with a list") }
        return customers.map { lines in
            lines.map { line in
                Line(
                    originalTransactionId: line["originalTransactionId"] as? String ?? "",
                    status: (line["status"] as? NSNumber)?.int64Value ?? 0,
                    productId: line["productId"] as? String ?? "",
                    purchaseDate: (line["purchaseDate"] as? NSNumber)?.int64Value ?? 0)
            }
        }
    }
}
