package import HTTPKit
import HTTPTypes

/// How an API listens, and what bounds it.
package struct APIConfiguration: Sendable {
    /// How often something may be asked.
    package struct Rate: Sendable, Hashable {
        /// Requests a minute in the long run.
        package var perMinute: Int
        /// Requests at once.
        package var burst: Int

        /// A rate.
        package init(perMinute: Int, burst: Int) {
            self.perMinute = perMinute
            self.burst = burst
        }
    }

    /// How it listens.
    package var http: HTTPServerConfiguration
    /// How often one caller may ask.
    package var callerRate = Rate(perMinute: 600, burst: 120)
    /// How many requests one address that is no trusted proxy may send: many customers can be behind one.
    package var addressRate = Rate(perMinute: 6000, burst: 1200)
    /// Which web pages may ask.
    package var cors = CORSPolicy()
    /// What stands before each path where a proxy in front serves others beside it, such as `/desk`; empty for nothing.
    package var prefix = ""
    /// How much memory long bodies may take together while they are read and answered, in bytes.
    package var bodyMemory: Int

    /// A configuration.
    /// - Parameter memory: how much memory the process may take, in bytes. A quarter is for long bodies, an eighth for the
    ///   bytes of requests as they arrive; an idle process has less than 100 MiB.
    package init(host: String, port: Int, memory: Int = MemoryLimit.usual) {
        bodyMemory = min(memory / 4, 256 << 20)
        http = HTTPServerConfiguration(host: host, port: port)
        // The receipts of a restore, the longest that any endpoint takes; each has a limit of its own.
        http.maximumBodySize = 6 << 20
        http.maximumBytesInFlight = min(memory / 8, 64 << 20)
        // Where the head is longer than that, it is the token: nothing else that is sent here comes near.
        http.longHeadAnswer = HTTPResponse(
            status: .unauthorized,
            headerFields: [
                .wwwAuthenticate:
                    #"Bearer realm="storehook", error="invalid_token", error_description="longer than any token""#
            ])
    }
}
